extension Settings {
    /// Settings of `[signals]`, a light and a buzzer. Light and buzzer are LED devices of the
    /// kernel.
    public struct Signals: Sendable, Equatable {
        /// Name of the status light's LED device; `off` for none.
        public var led = "off"
        /// Name of the buzzer's LED device; `off` for none.
        public var buzzer = "off"
    }
}
