extension Settings {
    /// Settings of `[signals]`: a light and a buzzer, which are LED devices of the kernel, and an
    /// input device that vibrates or beeps.
    public struct Signals: Sendable, Equatable {
        /// Name of the status light's LED device; `off` for none.
        public var led = "off"
        /// Name of the buzzer's LED device; `off` for none.
        public var buzzer = "off"
        /// Name of the input device that repeats the buzzer's signals; `off` for none.
        public var feedbackDevice = "off"
    }
}
