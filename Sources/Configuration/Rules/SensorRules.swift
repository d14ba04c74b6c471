import GimbalCore
import Port

/// Rules for the settings of the sensors.
enum SensorRules {
    /// All rules for sensors.
    static let all = [
        interface, handleAddress, handleBMI088, encoderBuses, encoderDirection, encoderTurn, buffer,
        bufferRate,
    ]

    static let interface = ConfigurationRule(keys: [
        "hardware.linux.imu_interface", "hardware.linux.imu",
    ]) {
        settings in
        guard settings.hardware.linux.imuInterface == .spi,
            settings.hardware.linux.imu == .mpu6050
        else { return nil }
        return (
            "does not suit an MPU-6050, which has only I2C",
            "Set hardware.linux.imu_interface to \"i2c\"."
        )
    }

    static let handleAddress = ConfigurationRule(
        keys: ["hardware.linux.handle_address", "hardware.linux.handle_imu"],
        triggers: ["hardware.linux.handle_imu"]
    ) { settings in
        let linux = settings.hardware.linux
        guard linux.handleImu != nil, linux.handleBus == linux.bus else { return nil }
        var used: [Int] = []
        if linux.imuInterface == .i2c {
            used = [linux.imuAddress] + (linux.imu == .bmi088 ? [linux.gyroAddress] : [])
        }
        var own = [linux.handleAddress]
        if linux.handleImu == .bmi088 { own.append(linux.handleAddress + 0x50) }
        guard own.contains(where: used.contains) else { return nil }
        return (
            "is also the address of the camera's sensor on the same bus",
            "Pull the address pin of one of the two sensors high, and set the new address of this sensor."
        )
    }

    static let handleBMI088 = ConfigurationRule(
        keys: ["hardware.linux.handle_imu", "hardware.linux.handle_address"]
    ) { settings in
        let linux = settings.hardware.linux
        guard linux.handleImu == .bmi088, ![0x18, 0x19].contains(linux.handleAddress) else {
            return nil
        }
        return (
            "needs hardware.linux.handle_address = 0x18 or 0x19",
            "Set the address of the accelerometer; the gyroscope then has the address 0x68 or 0x69."
        )
    }

    static let encoderBuses = ConfigurationRule(
        keys: [
            "hardware.linux.encoder_bus_yaw", "hardware.linux.encoder_bus_roll",
            "hardware.linux.encoder_bus_pitch",
        ], triggers: ["hardware.linux.encoders"]
    ) { settings in
        let linux = settings.hardware.linux
        guard linux.encoders == .as5600 else { return nil }
        let buses = [linux.encoderBusYaw, linux.encoderBusRoll, linux.encoderBusPitch]
        guard Set(buses).count < 3 else { return nil }
        return (
            "is the bus of another encoder, and every AS5600 has the address 0x36",
            "Connect the encoders to a TCA9548A: dtoverlay=i2c-mux,pca9548 turns each channel of a TCA9548A into a bus."
        )
    }

    static let encoderDirection = ConfigurationRule(keys: ["hardware.linux.encoder_direction"]) {
        settings in
        let direction = settings.hardware.linux.encoderDirection
        guard ![direction.yaw, direction.roll, direction.pitch].allSatisfy({ abs($0) == 1 })
        else { return nil }
        return ("must be 1 or -1 for each joint", "For example [1, -1, 1].")
    }

    /// An AS5600 measures an angle within one turn. In a range of more than one turn, different angles
    /// of the joint have the same reading.
    static let encoderTurn = ConfigurationRule(
        keys: ["joints.range_deg", "hardware.linux.encoders", "hardware.backend"]
    ) { settings in
        let (hardware, range) = (settings.hardware, settings.reachableJointsDeg)
        guard hardware.backend == .linux, hardware.linux.encoders == .as5600 else { return nil }
        for axis in GimbalAxis.allCases where range.upper[axis] - range.lower[axis] > 360 {
            if axis == .yaw, range.isYawEndless { continue }
            return (
                "lets \(axis.name) turn by more than 360 degrees, but an AS5600 measures angles within one turn, so the distance to the end stops is unknown",
                "Limit the range of this joint to 360 degrees, for example [-180, 180]. A yaw range of [-360, 360] means a joint without end stops."
            )
        }
        return nil
    }

    static let buffer = ConfigurationRule(
        keys: ["hardware.linux.imu_fifo", "hardware.linux.imu", "hardware.linux.data_ready_line"]
    ) { settings in
        let linux = settings.hardware.linux
        guard linux.imuFifo else { return nil }
        if linux.imu?.packetBytes == nil {
            return (
                "is not supported for hardware.linux.imu = \"\(linux.imu?.rawValue ?? SensorChip.kernelDriver)\"",
                "Set hardware.linux.imu_fifo to false, so that the loop reads the newest sample in each period."
            )
        }
        guard linux.dataReadyLine >= 0 else { return nil }
        return (
            "cannot be combined with hardware.linux.data_ready_line",
            "Set imu_fifo to false or data_ready_line to -1: airframed reads the buffer at fixed times, not when the sensor signals an interrupt."
        )
    }

    /// Largest number of samples that a FIFO can contain after one period. The bus thread reads at
    /// most 16 samples per period; two of them are a reserve with which it catches up.
    private static let mostPerPeriod = 14.0
    /// Highest number of samples per second of a chip with a FIFO: its clock can be 6 % fast.
    private static let bufferedRate = 1060.0

    static let bufferRate = ConfigurationRule(
        keys: ["loop.rate_hz", "hardware.linux.imu_fifo", "hardware.linux.imu"]
    ) { settings in
        let lowest = (bufferedRate / mostPerPeriod).rounded(.up)
        guard settings.hardware.backend == .linux, settings.hardware.linux.imuFifo,
            Double(settings.loop.rateHz) < lowest
        else { return nil }
        return (
            "is too low for hardware.linux.imu_fifo = true: the sensor's buffer would get more samples than airframed reads in one period",
            "Set loop.rate_hz to at least \(Int(lowest)), or hardware.linux.imu_fifo to false."
        )
    }
}
