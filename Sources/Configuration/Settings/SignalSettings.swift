extension Settings {
    /// Settings of `[signals]`: a light and a buzzer, which are LED devices of the kernel.
    public struct Signals: Sendable, Equatable {
        /// Name of the LED device that shows the state; "off" for none.
        public var led = "off"
        /// Name of the LED device to which a buzzer is connected; "off" for none.
        public var buzzer = "off"
    }
}
