extension Settings {
    /// Settings of `[mcp]`, the limits of assistants.
    public struct MCP: Sendable, Equatable {
        /// Highest rate of a turn, degrees per second.
        public var maxRateDps = 30.0
        /// Largest angle of one turn, degrees.
        public var maxTravelDeg = 120.0
        /// Longest turn at a rate, s.
        public var maxTurnS = 10.0
        /// Highest speed of the wheels, as a fraction of full speed.
        public var maxDrive = 0.3
        /// Time after which an assistant's change of a setting reverts, s.
        public var rollbackS = 60.0
    }
}
