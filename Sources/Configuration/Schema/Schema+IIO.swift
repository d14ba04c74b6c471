extension Schema {
    /// Settings of a sensor with a kernel driver, `[hardware.iio]`.
    static let iio: [Setting] = [
        .text(
            "hardware.iio.gyroscope", \.hardware.iio.gyroscope, maxLength: 64, .restart,
            "Gyroscope among the kernel's IIO devices: its name, its label or iio:deviceN; \"auto\" = the first gyroscope.",
            hint: "`airframectl doctor` lists the devices."),
        .text(
            "hardware.iio.accelerometer", \.hardware.iio.accelerometer, maxLength: 64, .restart,
            "Accelerometer among the kernel's IIO devices; \"auto\" = the accelerometer of the gyroscope's chip."
        ),
        .text(
            "hardware.iio.magnetometer", \.hardware.iio.magnetometer, maxLength: 64, .restart,
            "Magnetometer among the kernel's IIO devices; \"none\" = no magnetometer."),
        .integer(
            "hardware.iio.rate_hz", \.hardware.iio.rateHz, 50...8000, unit: "Hz", .restart,
            "Sampling frequency of the sensor; if the driver does not offer this frequency, airframed uses the next higher frequency."
        ),
        .number(
            "hardware.iio.low_pass_hz", \.hardware.iio.lowPassHz, 0...4000, unit: "Hz", .restart,
            "Corner frequency of the sensor's low-pass filter; 0 = the driver's own value.",
            hint: "Set imu.filter_delay_ms to the filter's delay; autotune measures this delay."),
        .text(
            "hardware.iio.trigger", \.hardware.iio.trigger, maxLength: 64, .restart,
            "Trigger that starts each measurement; \"auto\" = the sensor's own trigger."),
    ]
}
