extension Settings {
    /// Settings of `[mcp]`, the limits of assistants.
    public struct MCP: Sendable, Equatable {
        /// Highest rate of a rotation, degrees per second.
        public var maxRateDps = 30.0
        /// Largest angle of one rotation, degrees.
        public var maxTravelDeg = 120.0
        /// Longest duration of a rotation at a constant rate, s.
        public var maxTurnS = 10.0
        /// Highest speed of the vehicle's wheels, as a fraction of full speed.
        public var maxDrive = 0.3
        /// Duration of an assistant's temporary change of a setting, s.
        public var rollbackS = 60.0
    }
}
