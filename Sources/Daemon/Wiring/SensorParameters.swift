import Configuration
import GimbalCore
import Hardware
import Port
import Wire

extension Settings {
    /// Wiring of the real sensors.
    var sensorWiring: SensorWiring {
        let linux = hardware.linux
        var wiring = SensorWiring(
            camera: linux.imu.map { .chip(cameraChip($0)) } ?? .kernel(kernelSensor))
        wiring.staleSeconds = imu.timeoutMs / 1e3
        if linux.dataReadyLine >= 0 {
            wiring.dataReady = SensorWiring.DataReadyLine(
                chip: linux.dataReadyChip, line: linux.dataReadyLine)
        }
        wiring.handle = linux.handleImu.map { chip in
            // The I2C addresses of the two parts of a BMI088 differ by 0x50 for every setting of
            // its address pins.
            let address = UInt16(linux.handleAddress)
            return inertial(
                chip,
                at: .i2c(
                    bus: linux.handleBus,
                    addresses: [address] + (chip == .bmi088 ? [address + 0x50] : [])))
        }
        wiring.handleMounting = SensorCorrection.mounting(linux.handleMountingDeg * (.pi / 180))
        if linux.encoders == .as5600 {
            wiring.encoders = SensorWiring.Encoders(
                buses: (linux.encoderBusYaw, linux.encoderBusRoll, linux.encoderBusPitch),
                zero: linux.encoderZeroDeg * (.pi / 180), direction: linux.encoderDirection)
        }
        return wiring
    }

    private func cameraChip(_ chip: SensorChip) -> SensorWiring.Inertial {
        let linux = hardware.linux
        let isPair = chip == .bmi088
        let place: SensorWiring.Inertial.Place =
            switch linux.imuInterface {
            case .i2c:
                .i2c(
                    bus: linux.bus,
                    addresses: [UInt16(linux.imuAddress)]
                        + (isPair ? [UInt16(linux.gyroAddress)] : []))
            case .spi:
                .spi(
                    devices: [linux.imuSpi] + (isPair ? [linux.gyroSpi] : []),
                    clock: linux.spiKhz * 1000)
            }
        var sensor = inertial(chip, at: place)
        sensor.usesBuffer = linux.imuFifo
        return sensor
    }

    /// A sensor with a driver in the kernel.
    private var kernelSensor: IIOWiring {
        func name(_ text: String, except word: String) -> String? { text == word ? nil : text }
        let iio = hardware.iio
        var wiring = IIOWiring()
        wiring.gyroscope = name(iio.gyroscope, except: Settings.IIO.automatic)
        wiring.accelerometer = name(iio.accelerometer, except: Settings.IIO.automatic)
        wiring.magnetometer = name(iio.magnetometer, except: Settings.IIO.none)
        wiring.request.rate = Double(iio.rateHz)
        wiring.request.lowPass = iio.lowPassHz > 0 ? iio.lowPassHz : nil
        wiring.request.gyroRange = imu.gyroRangeDps
        wiring.request.accelRange = imu.accelRangeG
        wiring.request.trigger = name(iio.trigger, except: Settings.IIO.automatic)
        wiring.staleSeconds = imu.timeoutMs / 1e3
        return wiring
    }

    private func inertial(
        _ chip: SensorChip, at place: SensorWiring.Inertial.Place
    ) -> SensorWiring.Inertial {
        SensorWiring.Inertial(
            chip: chip, place: place, gyroRange: imu.gyroRangeDps,
            accelRange: imu.accelRangeG, testsItself: hardware.linux.imuSelfTest)
    }
}

extension SensorReports {
    /// Adds the state of real sensors to `status`.
    func fill(_ status: inout Status, _ settings: Settings) {
        guard settings.hardware.backend == .linux else { return }
        status.imu.setUpFailure = camera.lastFailure
        let ignored = camera.ignoredSettings
        status.imu.ignoredSettings = ignored.isEmpty ? nil : ignored
        status.imu.lostConfigurations = Int(camera.lostConfigurations)
        status.imu.faults = camera.counters
        status.imu.clockErrorPpm = Number(camera.clockErrorPPM)
        if settings.hardware.linux.handleImu != nil {
            status.imu.handleSetUpFailure = handle.lastFailure
            status.imu.handleFaults = handle.counters
        }
        if settings.hardware.linux.encoders == .as5600 { encoders.fill(&status.joints) }
        if settings.hardware.linux.motors == .can { status.can = drives.status(settings) }
        if settings.hardware.linux.motors.isSerial {
            status.serial = drives.serialStatus(settings)
        }
    }
}

extension EncoderReports {
    fileprivate func fill(_ status: inout JointStatus) {
        for axis in GimbalAxis.allCases {
            for (name, count) in self[axis].counters {
                status.encoderFaults["\(axis.name)_\(name)"] = count
            }
        }
        let failures = GimbalAxis.allCases.compactMap { axis in
            self[axis].failure.map { "the encoder of \(axis.name) \($0)" }
        }
        status.encoderFailure = failures.isEmpty ? nil : failures.joined(separator: ", ")
    }
}
