import Glibc
import Realtime
import Testing

@Suite("Errors on a bus")
struct BusErrorTests {
    @Test(
        "the description contains the device, and the remedy fits the error",
        arguments: [
            (.i2c, 0x40, ENXIO, "device 0x40", "check wiring"),
            (.i2c, 0x18, ENOENT, "device 0x18", "dtparam=i2c_arm=on,i2c_arm_baudrate=400000"),
            (.i2c, 0x18, EACCES, "device 0x18", "group i2c"),
            (.pwm, 1, ENOENT, "PWM channel 1", "dtoverlay=pwm-2chan"),
            (.pwm, 1, EACCES, "PWM channel 1", "group gpio"),
            (.pwm, 9, ENODEV, "PWM channel 9", "npwm"),
            (.pwm, 0, EBUSY, "PWM channel 0", "dtparam=audio=off"),
            (.gpio, 17, ENOENT, "GPIO line 17", "gpiodetect"),
            (.gpio, 17, EACCES, "GPIO line 17", "group gpio"),
            (.gpio, 17, EBUSY, "GPIO line 17", "gpioinfo"),
            (.gpio, 99, EINVAL, "GPIO line 99", "no such line"),
            (.can, 0x2E, ENETDOWN, "CAN frame 0x2e", "ip link set can0 up"),
            (.can, 0, ENODEV, "CAN frame 0x0", "hardware.linux.can_interface"),
            (.can, 0, EAFNOSUPPORT, "CAN frame 0x0", "can.conf"),
            (.can, 0x8001, EINVAL, "CAN frame 0x8001", "fd on"),
            (.iio, 3, EACCES, "iio:device3", "iio.conf"),
            (.iio, 3, EBUSY, "iio:device3", "Another program"),
            (.iio, 3, EINVAL, "iio:device3", "hardware.iio.rate_hz"),
            (.can, 0x2E, ENOBUFS, "CAN frame 0x2e", "txqueuelen 32"),
        ] as [(BusError.Device, UInt16, Int32, String, String)])
    func words(
        device: BusError.Device, address: UInt16, code: Int32, place: String, remedy: String
    ) {
        let error = BusError(operation: .write, device: device, address: address, code: code)
        #expect(error.description.contains(place), "\(error)")
        #expect(error.remedy().contains(remedy), "\(error.remedy())")
    }

    @Test(
        "the commands for a CAN interface contain its name and bit rate",
        arguments: [ENETDOWN, ENOBUFS, EINVAL, EIO])
    func interface(code: Int32) {
        let error = BusError(operation: .write, device: .can, address: 1, code: code)
        let remedy = error.remedy(canInterface: "can1", canKbit: 500)
        #expect(remedy.contains("can1") && !remedy.contains("can0"), "\(remedy)")
        #expect(!remedy.contains("bitrate 1000000"), "\(remedy)")
    }
}
