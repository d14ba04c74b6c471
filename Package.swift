// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The fuzzers are linked with libFuzzer's own main, so they are only there when they are asked for.
let fuzzers =
    ProcessInfo.processInfo.environment["AIRFRAME_FUZZ"] == nil
    ? []
    : [
        "FuzzDiagnostics", "FuzzAirOS", "FuzzRBL", "FuzzMAVLink", "FuzzRider", "FuzzRecording",
        "FuzzWeb", "FuzzMotors", "FuzzIIO",
    ]

/// airframe-eyes needs GStreamer, which most machines and the two main programs do without: its targets exist only if the
/// variable AIRFRAME_EYES contains the compiler's flags for GStreamer. The Makefile asks pkg-config and sets it. The manifest
/// does not ask: SwiftPM keeps the result of a manifest until its text or the environment changes, so the answer would stay at
/// the first one after the packages have been installed. Also, SwiftPM warns of pkg-config's `-pthread` with each build.
let eyesFlags = ProcessInfo.processInfo.environment["AIRFRAME_EYES"].flatMap {
    $0.isEmpty ? nil : $0.split(separator: " ").map(String.init)
}

/// Strict boundaries: an import is internal unless said otherwise, an existential is spelled `any`, and a member is
/// visible only where its module is imported. A leak across a module wall is a compiler message.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Settings of the tests. The optimised build of `make test` does not optimise the tests themselves: optimised, SimulationTests
/// alone compile for more than five minutes. In batch mode, both cores work on one test target; the compiler then warns that it
/// ignores SwiftPM's -num-threads.
let tests: [SwiftSetting] =
    strict + [
        .unsafeFlags(
            ["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"],
            .when(configuration: .release))
    ]

/// Settings of the targets that compute. They are optimised in debug builds too, because the tests run hours of simulated
/// time. Each is compiled as one unit, because the tick's allocation check must see into the rings.
let optimised: [SwiftSetting] =
    strict + [
        .unsafeFlags(
            [
                "-O", "-whole-module-optimization", "-disable-batch-mode", "-num-threads", "2",
                "-enable-default-cmo",
            ],
            .when(configuration: .debug))
    ]

/// The companion for video.
let eyes: [Target] = [
    // LiteRT, loaded at run time.
    .target(
        name: "CInference", path: "CSources/CInference", linkerSettings: [.linkedLibrary("dl")]),
    .target(
        name: "People", dependencies: ["CInference", "CMathShim", "GimbalCore"],
        swiftSettings: optimised),
    .testTarget(
        name: "PeopleTests",
        dependencies: [
            "People", "GimbalCore", "Simulation",
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        swiftSettings: tests),
    // libjpeg-turbo (libturbojpeg0-dev), for the pictures of phones.
    .systemLibrary(
        name: "CTurboJPEG", path: "CSources/CTurboJPEG", providers: [.apt(["libturbojpeg0-dev"])]),
    // GStreamer and its RTSP server (libgstrtspserver-1.0-dev).
    .target(
        name: "CVideo", path: "CSources/CVideo",
        cSettings: [.define("_GNU_SOURCE"), .unsafeFlags(eyesFlags ?? [])],
        linkerSettings: [
            "gstrtspserver-1.0", "gstapp-1.0", "gstbase-1.0", "gstvideo-1.0", "gstreamer-1.0",
            "gobject-2.0",
            "glib-2.0",
        ].map { .linkedLibrary($0) }),
    .target(
        name: "Eyes",
        dependencies: [
            "Aerie", "CLinuxShim", "CVideo", "CTurboJPEG", "Client", "Configuration", "GimbalCore",
            "People", "PlainText", "Recording", "WebServing", "Wire",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        swiftSettings: strict),
    .executableTarget(
        name: "EyesMain", dependencies: ["Eyes"], path: "Sources/Programs/airframe-eyes",
        swiftSettings: strict),
    .testTarget(
        name: "EyesTests",
        dependencies: [
            "Aerie", "Eyes", "CTurboJPEG", "CVideo", "Client", "Configuration", "GimbalCore",
            "People", "Recording", "TestSupport", "WebServing", "Wire",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "SystemPackage", package: "swift-system"),
        ],
        swiftSettings: tests),
]

let package = Package(
    name: "airframe",
    products: [
        .executable(name: "airframed", targets: ["DaemonMain"]),
        .executable(name: "airframectl", targets: ["ControlMain"]),
        // Both in one file, as it is installed: a static Swift runtime twice would be twice as large.
        .executable(name: "airframe", targets: ["AirframeMain"]),
        .executable(name: "airframe-web", targets: ["WebMain"]),
        // For the bench: preloaded into the daemon, it counts what the daemon's threads allocate.
        .library(name: "MallocCounter", type: .dynamic, targets: ["CMallocCounter"]),
        // For the tests and the bench: preloaded into the daemon, it makes the disk slow.
        .library(name: "SlowDisk", type: .dynamic, targets: ["SlowDisk"]),
    ] + (eyesFlags == nil ? [] : [.executable(name: "airframe-eyes", targets: ["EyesMain"])]),
    dependencies: [
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-atomics", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    ],
    targets: [
        // C shims: only functions that Swift cannot call directly.
        .target(
            name: "CMathShim", path: "CSources/CMathShim", linkerSettings: [.linkedLibrary("m")]),

        .target(name: "CLinuxShim", path: "CSources/CLinuxShim"),

        // The ioctls of I2C, SPI and GPIO.
        .target(name: "CHardwareShim", path: "CSources/CHardwareShim"),

        // GATT at bluetoothd through libsystemd's D-Bus (libsystemd-dev).
        .target(
            name: "CBlueZ", path: "CSources/CBlueZ",
            cSettings: [.define("_GNU_SOURCE")], linkerSettings: [.linkedLibrary("systemd")]),

        .systemLibrary(name: "CSystemd", path: "CSources/CSystemd"),
        // Compression of recordings (libzstd-dev).
        .systemLibrary(
            name: "CZstd", path: "CSources/CZstd", providers: [.apt(["libzstd-dev"])]),

        // The rider's config.yaml, for airframectl import (libyaml-dev).
        .systemLibrary(name: "CYAML", path: "CSources/CYAML", providers: [.apt(["libyaml-dev"])]),

        // Replaces malloc by a counting one: for tests and the bench only.
        .target(name: "CMallocCounter", path: "CSources/CMallocCounter"),

        // Replaces fsync(2) by one that takes its time: for tests and the bench only.
        .target(name: "SlowDisk", path: "Tests/SlowDisk"),

        // Pure: no Foundation, no Glibc, no clock.
        .target(
            name: "GimbalCore", dependencies: ["CMathShim"], swiftSettings: optimised),
        .target(
            name: "Calibration", dependencies: ["GimbalCore", "CMathShim", "PlainText"],
            swiftSettings: optimised),
        .target(
            name: "Identification", dependencies: ["GimbalCore", "CMathShim"],
            swiftSettings: optimised),
        .target(name: "PlainText", swiftSettings: strict),
        // Ordinary threads, the pipe that wakes them, and the lines of a byte stream.
        .target(
            name: "Threads",
            dependencies: ["CLinuxShim", .product(name: "SystemPackage", package: "swift-system")],
            swiftSettings: strict),
        .target(name: "Plot", dependencies: ["PlainText"], swiftSettings: strict),
        .target(name: "Port", dependencies: ["GimbalCore"], swiftSettings: strict),
        .target(
            name: "Wire", dependencies: ["GimbalCore", "Port", "PlainText"], swiftSettings: strict),
        .target(
            name: "Simulation", dependencies: ["GimbalCore", "CMathShim"],
            swiftSettings: optimised),
        // Wheels, steppers and remote controls of a robot that carries the gimbal.
        .target(name: "Robot", dependencies: ["GimbalCore", "Wire"], swiftSettings: optimised),

        // Independent of each other, above the core.
        .target(
            name: "Configuration",
            dependencies: [
                "GimbalCore", "Port", "PlainText", "CMathShim",
                .product(name: "TOMLKit", package: "TOMLKit"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict),
        .target(
            name: "Realtime",
            dependencies: [
                "GimbalCore", "CLinuxShim", .product(name: "Atomics", package: "swift-atomics"),
            ],
            swiftSettings: optimised),
        .target(
            name: "Observables", dependencies: ["GimbalCore", "Port", "Realtime", "Wire"],
            swiftSettings: strict),
        .target(
            name: "Policy",
            dependencies: [
                "GimbalCore", "Port", "Realtime", "Configuration", "Persistence", "Calibration",
                "PlainText", "Robot",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict),
        .target(
            name: "Hardware",
            dependencies: [
                "GimbalCore", "Configuration", "Realtime", "Robot", "CHardwareShim", "CLinuxShim",
            ],
            swiftSettings: strict),
        .target(
            name: "Persistence",
            dependencies: ["Port", .product(name: "SystemPackage", package: "swift-system")],
            swiftSettings: strict),
        .target(
            name: "Recording",
            dependencies: [
                "GimbalCore", "Observables", "PlainText", "Realtime", "Wire", "Persistence",
                "CZstd", "CLinuxShim", .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict),
        .target(
            name: "Links",
            dependencies: [
                "GimbalCore", "Port", "Wire", "Configuration", "PlainText", "Robot", "Threads",
                "CLinuxShim", "CBlueZ",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict),

        // Requests to the daemon, for all programs that are its clients.
        .target(
            name: "Client",
            dependencies: [
                "Wire", "PlainText", "Threads", "CLinuxShim",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict),

        // Series of photos: plans, and the course of a shot.
        .target(name: "Shots", dependencies: ["PlainText"], swiftSettings: optimised),

        // Tools of an assistant, for airframectl mcp.
        .target(
            name: "Assistant",
            dependencies: [
                "Client", "Wire", "PlainText", "Shots", "Threads",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict),

        // Web server of the companions: HTTP/1.1, WebSocket and TLS, behind types without NIO.
        .target(
            name: "WebServing",
            dependencies: [
                "CLinuxShim", "GimbalCore", "Port",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: strict),

        // Server for phones with HawkSight.
        .target(
            name: "Aerie",
            dependencies: ["GimbalCore", "WebServing", "Wire"],
            swiftSettings: strict),

        // The companion for browsers.
        .target(
            name: "Web",
            dependencies: [
                "CLinuxShim", "WebServing", "Client", "Configuration", "GimbalCore", "Recording",
                "Port", "Shots", "Wire",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            exclude: ["Page"], swiftSettings: strict),
        .executableTarget(
            name: "WebMain", dependencies: ["Web"], path: "Sources/Programs/airframe-web",
            swiftSettings: strict),

        // The two programs.
        .target(
            name: "Daemon",
            dependencies: [
                "GimbalCore", "Wire", "Simulation", "Configuration", "Realtime", "Port", "Policy",
                "Persistence", "Calibration", "Identification", "Links", "Hardware", "PlainText",
                "Observables", "Recording", "Robot", "CLinuxShim", "CSystemd",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict),
        .target(
            name: "airframed",
            dependencies: [
                "Daemon", "Configuration", "PlainText", "Realtime", "Wire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict),
        .target(
            name: "airframectl",
            dependencies: [
                "GimbalCore", "Assistant", "Client", "Wire", "Configuration", "Hardware",
                "Recording", "PlainText", "Plot", "Shots", "CHardwareShim", "CLinuxShim", "CYAML",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            // Static, so that the programs need no further library: 0.1 MB.
            swiftSettings: strict, linkerSettings: [.linkedLibrary(":libyaml.a")]),
        .executableTarget(
            name: "DaemonMain", dependencies: ["airframed"], path: "Sources/Programs/airframed",
            swiftSettings: strict),
        .executableTarget(
            name: "ControlMain", dependencies: ["airframectl"],
            path: "Sources/Programs/airframectl", swiftSettings: strict),
        .executableTarget(
            name: "AirframeMain", dependencies: ["airframed", "airframectl"],
            path: "Sources/Programs/airframe", swiftSettings: strict),
        .executableTarget(
            name: "airframe-bench",
            dependencies: [
                "GimbalCore", "Calibration", "Identification", "Simulation", "Realtime", "Port",
                "Policy", "Recording", "Configuration",
                "PlainText",
                "Plot", "Wire", "Links", "Hardware", "CLinuxShim", "CMallocCounter", "FakeBlueZ",
                "Aerie", "Robot", "TestSupport", "WebServing",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/Bench", swiftSettings: strict),

        // bluetoothd as the tests of the shim need it: on a private bus, wrong on purpose.
        .target(
            name: "CFakeBlueZ", path: "Tests/CFakeBlueZ", cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [.linkedLibrary("systemd")]),
        .target(
            name: "FakeBlueZ", dependencies: ["CFakeBlueZ", "CLinuxShim"],
            path: "Tests/FakeBlueZ", swiftSettings: strict),
        // Models of servos, and of a motor board with the reference firmware's protocol.
        .target(
            name: "MotorModels", path: "Tests/MotorModels",
            cxxSettings: [.headerSearchPath("../../etc/boards/firmware")]),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "Wire", "Links", "Port", "Configuration", "GimbalCore", "Hardware", "Recording",
                "Robot", "WebTarget",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: "Tests/Fuzz/Targets", swiftSettings: strict),
        .target(
            name: "WebTarget",
            dependencies: [
                "WebServing",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            path: "Tests/Fuzz/WebTarget", swiftSettings: strict),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"], swiftSettings: tests),
        .testTarget(
            name: "BenchTests",
            dependencies: ["airframe-bench", "GimbalCore", "Port", "Realtime", "Simulation"],
            swiftSettings: tests),
        .target(
            name: "TestSupport",
            dependencies: [.product(name: "SystemPackage", package: "swift-system")],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "GimbalCoreTests", dependencies: ["GimbalCore", "CMathShim"],
            swiftSettings: tests),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Simulation", "GimbalCore", "Configuration", "Port", "Plot", "TestSupport",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "IdentificationTests",
            dependencies: ["Identification", "GimbalCore", "Simulation"],
            swiftSettings: tests),
        .testTarget(
            name: "CalibrationTests",
            dependencies: [
                "Calibration", "Configuration", "Daemon", "GimbalCore", "Links", "Persistence",
                "Realtime", "Port", "Policy", "Simulation", "Wire", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                "Configuration", "GimbalCore", "Port", "TestSupport",
                .product(name: "TOMLKit", package: "TOMLKit"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "RecordingTests",
            dependencies: [
                "Recording", "Configuration", "GimbalCore", "Observables", "Realtime",
                "Simulation", "TestSupport", "Wire",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "PersistenceTests",
            dependencies: [
                "Persistence", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "RealtimeTests",
            dependencies: [
                "Realtime", "GimbalCore", "CMallocCounter",
                .product(name: "Atomics", package: "swift-atomics"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "PolicyTests",
            dependencies: ["Policy", "Port", "Realtime", "Robot", "GimbalCore"],
            swiftSettings: tests),
        .testTarget(
            name: "HardwareTests",
            dependencies: [
                "Hardware", "Configuration", "GimbalCore", "Realtime", "CHardwareShim",
                "CMallocCounter", "MotorModels", "Robot", "TestSupport",
            ],
            swiftSettings: tests),
        .testTarget(
            name: "WireTests", dependencies: ["Wire", "Port", "GimbalCore", "Robot"],
            swiftSettings: tests),
        .testTarget(
            name: "RobotTests", dependencies: ["Robot", "GimbalCore", "Simulation"],
            swiftSettings: tests),
        .testTarget(
            name: "PlainTextTests", dependencies: ["PlainText"], swiftSettings: tests),
        .testTarget(name: "PlotTests", dependencies: ["Plot"], swiftSettings: tests),
        .testTarget(
            name: "LinksTests",
            dependencies: [
                "Links", "Port", "Wire", "Configuration", "GimbalCore", "CLinuxShim",
                "FakeBlueZ", "Plot", "Robot",
                "TestSupport", "Threads",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "WebTests",
            dependencies: [
                "Web", "WebServing", "Client", "Configuration", "GimbalCore", "Simulation", "Wire",
                "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["audit.js"], swiftSettings: tests),
        .testTarget(
            name: "WebServingTests",
            dependencies: [
                "WebServing", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "AerieTests",
            dependencies: ["Aerie", "Client", "GimbalCore", "TestSupport", "WebServing", "Wire"],
            swiftSettings: tests),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "Assistant", "Calibration", "Daemon", "GimbalCore", "Hardware", "Wire",
                "Configuration", "Persistence",
                "Identification", "Observables", "Realtime", "Recording", "Port", "Policy",
                "Simulation", "Links", "Plot", "CLinuxShim",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: tests),
        .testTarget(name: "ShotsTests", dependencies: ["Shots"], swiftSettings: tests),
        .testTarget(
            name: "AssistantTests",
            dependencies: [
                "Assistant", "Client", "Threads", "Wire",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: tests),
        .testTarget(
            name: "AirframectlTests",
            dependencies: [
                "airframectl", "Client", "Wire", "Plot", "GimbalCore", "Observables",
                "Shots",
                "Recording", "CLinuxShim", "Configuration", "Simulation", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: tests),
    ]
        + fuzzers.map { name in
            .executableTarget(
                name: name, dependencies: [name == "FuzzWeb" ? "WebTarget" : "FuzzTargets"],
                path: "Tests/Fuzz/\(name)",
                swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
        }
        + (eyesFlags == nil ? [] : eyes),
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c11
)
