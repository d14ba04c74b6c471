internal import Glibc

extension BusError {
    /// Message with the usual remedy for the bus error.
    ///
    /// - Parameters:
    ///   - canInterface: Name of the CAN interface, for the commands in the message.
    ///   - canKbit: Bit rate of the CAN bus, kbit/s.
    /// - Returns: The message.
    public func remedy(canInterface: String = "can0", canKbit: Int = 1000) -> String {
        switch device {
        case .i2c: i2cRemedy
        case .pwm: pwmRemedy
        case .gpio: gpioRemedy
        case .spi: spiRemedy
        case .can: canRemedy(canInterface, bitrate: canKbit * 1000)
        case .serial: serialRemedy
        case .iio: iioRemedy
        }
    }

    private var i2cRemedy: String {
        switch code {
        case ENOENT:
            "The bus does not exist: add dtparam=i2c_arm=on,i2c_arm_baudrate=400000 to config.txt, and load the module i2c-dev."
        case EACCES, EPERM:
            "The user of airframed has no permission to open the bus: add this user to the group i2c."
        case ENXIO, EREMOTEIO:
            "No chip answers at that address: check wiring, power and the address in hardware.linux."
        case ETIMEDOUT:
            "A line of the bus is held low: check for a short circuit, or power-cycle the chips."
        case EOPNOTSUPP:
            "The adapter refuses the transfer, for example because it supports only SMBus: connect the chips to the board's I2C pins."
        default: "Check pull-ups, cable length and the bus clock."
        }
    }

    private var spiRemedy: String {
        switch code {
        case ENOENT:
            "The bus does not exist: add dtparam=spi=on to config.txt, and load the module spidev."
        case EACCES, EPERM:
            "The user of airframed has no permission to open the bus: add this user to the group spi."
        default: "Check the wires and hardware.linux.spi_khz."
        }
    }

    private func canRemedy(_ interface: String, bitrate: Int) -> String {
        switch code {
        case ENODEV:
            "The CAN interface does not exist: `ip link` lists the interfaces; set hardware.linux.can_interface, and add the overlay of the CAN board to config.txt."
        case ENETDOWN:
            "The CAN interface is down: `ip link set \(interface) up type can bitrate \(bitrate) restart-ms 100`."
        case ENOBUFS, EAGAIN:
            "The transmit queue of the interface is full. If a drive answers, the queue is too short: `ip link set \(interface) txqueuelen 32`. If no drive answers, none acknowledges the frames: check the drives' supply, the wires, the two 120 Ω terminators, and the bit rate."
        case EINVAL:
            "CAN FD is not enabled on the interface: run `ip link set \(interface) down`, then `ip link set \(interface) up type can bitrate \(bitrate) dbitrate 5000000 fd on`."
        case EAFNOSUPPORT, EPERM, EACCES:
            "airframed is not allowed to use CAN: install the drop-in file can.conf (first-start.md shows the commands), and load the module can-raw."
        default: "Check the CAN interface with `ip -details -statistics link show \(interface)`."
        }
    }

    private var serialRemedy: String {
        switch code {
        case ENOENT, ENODEV, ENXIO, EIO:
            "The serial port does not exist, or its adapter was unplugged: `ls -l /dev/serial/by-id` lists the adapters; set hardware.linux.motor_port, or --port of airframectl."
        case EACCES, EPERM:
            "airframed is not allowed to open the serial port: install the drop-in file serial.conf (first-start.md shows the commands); outside the service, run it as a member of the group dialout."
        case EBUSY:
            "Another program uses the serial port, such as `airframectl motor scan` or a console: end this program."
        case ENOTTY: "The file is not a serial port: set hardware.linux.motor_port."
        case EINVAL: "The port does not support this speed: set hardware.linux.motor_baud."
        default: "Check the adapter and its cable; dmesg shows messages of its driver."
        }
    }

    private var iioRemedy: String {
        switch code {
        case EACCES, EPERM, EROFS:
            "airframed is not allowed to set the sensor up: install the drop-in file iio.conf (first-start.md shows the commands), and install the udev rules of airframed."
        case EBUSY:
            "Another program uses the sensor: stop it, for example iio-sensor-proxy or iiod."
        case ENODEV, ENOENT:
            "The kernel has removed the sensor: check its wires and supply, and the output of dmesg."
        case EINVAL:
            "The kernel's driver refuses a value: check hardware.iio.rate_hz and low_pass_hz, and the output of dmesg."
        default: "Check the sensor's wires and supply, and the output of dmesg."
        }
    }

    private var pwmRemedy: String {
        switch code {
        case ENOENT:
            "The PWM chip does not exist: add dtoverlay=pwm-2chan to config.txt, and set hardware.linux.pwm_chip to a chip in /sys/class/pwm."
        case EACCES, EPERM, EROFS:
            "airframed is not allowed to write to /sys/class/pwm: install the drop-in file pwm.conf (first-start.md shows the commands); outside the service, run it as a member of the group gpio."
        case EBUSY:
            "The channel is in use by another program, or by sound on the headphone socket; dtparam=audio=off in config.txt disables that sound."
        case ENODEV:
            "The PWM chip has no such channel: its file npwm contains the number of its channels."
        default: "The PWM chip refuses this period or pulse length: try another servo.frame_hz."
        }
    }

    private var gpioRemedy: String {
        switch code {
        case ENOENT:
            "This GPIO chip does not exist: gpiodetect lists the chips; set hardware.linux.gpio_chip to the chip with the header's pins."
        case EACCES, EPERM:
            "The user of airframed has no permission to open the GPIO chip: add this user to the group gpio."
        case EBUSY:
            "Another program or driver uses the line: gpioinfo names the user of the line; if an overlay in config.txt uses the line, remove the overlay."
        case EINVAL: "The GPIO chip has no such line: gpioinfo lists its lines."
        default: "Try the line with gpioset, and check the output of dmesg."
        }
    }
}
