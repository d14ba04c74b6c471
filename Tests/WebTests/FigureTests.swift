import Client
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing
import Wire

@testable import Web

/// Measures the page and airframe-web, and prints each value next to its limit. `make bench-web`
/// measures the release build.
@Suite(
    "Performance of the page", .serialized, .timeLimit(.minutes(1)),
    .enabled(
        if: Chromium.isInstalled && !Sanitizer.isActive,
        "Chromium is not installed: sudo apt install chromium"))
struct FigureTests {
    /// True if the programs are from the release build; a debug build needs more memory.
    private static let isReleased = getenv("AIRFRAME_BIN") != nil

    /// Prints a measured value, and compares it with its limit. Without `isHard`, compares only in
    /// a release build.
    private func compare(
        _ name: String, _ value: Double, _ bar: Double, _ unit: String, isHard: Bool = true
    ) {
        print(
            "web: \(name) \(String(format: "%.1f", value)) \(unit) (bar \(String(format: "%.0f", bar)) \(unit))"
        )
        if isHard || Self.isReleased { #expect(value <= bar, "\(name)") }
    }

    @Test(
        "size, first paint, first live value and time from touch to motor command are within their limits"
    )
    func page() throws {
        try withTemporaryDirectory { directory in
            let rig = try Rig(in: directory)
            let browser = try Chromium.start()
            let page = try browser.page()
            try page.call("Network.clearBrowserCookies")
            try page.resize(390, 844, isPhone: true)
            // Opens a small file first, so that the start of the browser is not measured.
            try page.open("\(rig.address)/icon.svg")
            try page.open("\(rig.address)/#pair=\(try rig.code())")
            try #require(
                try page.wait(
                    "document.documentElement.dataset.live && performance.getEntriesByName('first-contentful-paint').length"
                ) != nil)
            let size = try page.value(
                "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).reduce((sum, e) => sum + (e.decodedBodySize || 0), 0)"
            )
            compare("page", (size.number ?? .nan) / 1000, 500, "kB")
            let paint = try page.value(
                "performance.getEntriesByName('first-contentful-paint')[0].startTime")
            compare("first paint", paint.number ?? .nan, 500, "ms", isHard: false)
            let live = try page.value("performance.getEntriesByName('first-live')[0].startTime")
            compare("first live value", live.number ?? .nan, 1000, "ms", isHard: false)
            try touches(page, rig)
        }
    }

    /// Time from the touch event in the browser to the time stamp of the daemon's answer. The
    /// daemon creates the time stamp after it has queued the command. The loop then writes the
    /// command to the motors within the time that `status` states for a request. Pings measure the
    /// offset between the clocks.
    private func touches(_ page: Chromium.Page, _ rig: Rig) throws {
        try #require(
            try page.wait(
                "document.querySelector('.pad').getAttribute('aria-disabled') === 'false'")
                != nil)
        try page.value(
            """
            (() => {
              window.touched = [];
              let stamp = 0;
              const pad = document.querySelector('.pad');
              for (const name of ['pointerdown', 'pointerrawupdate', 'pointermove']) pad.addEventListener(name, (e) => (stamp = e.timeStamp), true);
              const send = WebSocket.prototype.send;
              const pending = new Map();
              const pings = [];
              let offset = null;
              WebSocket.prototype.send = function (text) {
                const message = JSON.parse(text);
                if (message.method === 'rate' && stamp) { pending.set(message.id, stamp); stamp = 0; }
                if (!this.isWatched) {
                  this.isWatched = true;
                  this.addEventListener('message', (event) => {
                    const answer = JSON.parse(event.data);
                    const now = performance.now();
                    if (String(answer.id).startsWith('clock')) {
                      const begin = Number(answer.id.slice(5));
                      pings.push([now - begin, answer.t * 1000 - (begin + now) / 2]);
                      pings.sort((a, b) => a[0] - b[0]);
                      offset = pings[0][1];
                      if (pings.length < 50) send.call(this, JSON.stringify({ id: `clock${performance.now()}`, method: 'ping' }));
                    }
                    if (pending.has(answer.id)) {
                      touched.push(answer.t * 1000 - offset - pending.get(answer.id));
                      pending.delete(answer.id);
                    }
                  });
                  send.call(this, JSON.stringify({ id: `clock${performance.now()}`, method: 'ping' }));
                }
                return send.call(this, text);
              };
            })()
            """)
        // The page sends a status request every half second, which makes the socket known to the
        // probe.
        usleep(900_000)
        let middle = try page.middle(of: ".pad")
        try page.touch("touchStart", middle)
        for step in 0..<60 {
            try page.touch(
                "touchMove", (middle.x + 20 + Double(step % 7) * 5, middle.y + Double(step % 5) * 4)
            )
            // A browser can hold a touch until its next frame (16.7 ms). Equal pauses would meet
            // the frames at only two phases, so the median would be one of two values.
            usleep(UInt32(25_000 + step * 7_919 % 16_667))
        }
        try page.touch("touchEnd")
        let times = (try page.value("touched").array ?? []).compactMap(\.number).sorted()
        try #require(times.count >= 30)
        let stages = try rig.status()["loop"]?["stages"]?.array ?? []
        let request = stages.first { $0["name"] == "request" }?["p50_us"]?.number ?? 0
        let motor = request / 1000
        compare(
            "touch to motor command, p50", times[times.count / 2] + motor, 20, "ms", isHard: false)
        print(
            "web: touch to motor command, p90 \(String(format: "%.1f", times[times.count * 9 / 10] + motor)) ms; \(String(format: "%.2f", motor)) ms of it from the request to the written output"
        )
    }

    /// Age of each drawn picture, from its time code (`TimeCode` of airframe-eyes): two rows of 20
    /// cells, 32 bits of time in units of 0.1 ms on CLOCK_MONOTONIC, and 8 bits of checksum.
    private static let ages = """
        (() => {
          window.drawn = [];
          const draw = CanvasRenderingContext2D.prototype.drawImage;
          CanvasRenderingContext2D.prototype.drawImage = function (picture, ...rest) {
            draw.call(this, picture, ...rest);
            const side = Math.max(8, Math.floor(picture.width / 40));
            const { data, width } = this.getImageData(0, 0, picture.width, 2 * side);
            let code = 0;
            for (let i = 0; i < 32; i++) {
              const [x, y] = [(i % 20 + 0.5) * side, (Math.floor(i / 20) + 0.5) * side].map(Math.floor);
              code = code * 2 + (data[4 * (y * width + x)] > 128 ? 1 : 0);
            }
            drawn.push([performance.now(), code * 0.1]);
          };
        })()
        """

    @Test("the median age of the video pictures on the page is within its limit")
    func video() throws {
        guard EyesProgram.isBuilt else {
            return print("skipped: airframe-eyes is not built (make build-eyes)")
        }
        try withTemporaryDirectory { directory in
            let path = directory.appending("pictures.sock").string
            let rig = try Rig(in: directory, ["eyes.socket=\"\(path)\""])
            let eyes = try EyesProgram(rig, pictures: path, ["video.always_on=true"])
            let page = try Chromium.start().page()
            try page.call("Network.clearBrowserCookies")
            try page.resize(390, 844, isPhone: true)
            usleep(2_000_000)
            let alone = try processorShare(of: eyes.process, for: 4)
            try page.open("\(rig.address)/#pair=\(try rig.code())")
            try #require(try page.wait("\(EyesProgram.pictures) > 2") != nil)
            try page.value(Self.ages)
            let watched = try processorShare(of: eyes.process, for: 4)
            // The page's clock starts when the page is opened. The shortest call measures its
            // offset from the clock of the time code.
            var offset = (seconds: 0.0, width: Double.infinity)
            for _ in 0..<20 {
                let begin = monotonicNow()
                let page = (try page.value("performance.now()").number ?? .nan) / 1000
                let end = monotonicNow()
                if end - begin < offset.width { offset = ((begin + end) / 2 - page, end - begin) }
            }
            let drawn = try page.value("drawn").array ?? []
            let ages = drawn.compactMap { pair -> Double? in
                guard let at = pair.array?.first?.number, let code = pair.array?.last?.number
                else { return nil }
                // The time code has 32 bits, so it repeats after 5 days.
                let age = at + offset.seconds * 1000 - code
                return age.remainder(dividingBy: 0.1 * 4_294_967_296)
            }.sorted()
            try #require(ages.count > 20)
            compare(
                "video, exposure to the page, p50", ages[ages.count / 2], 150, "ms", isHard: false)
            print(
                "web: video, exposure to the page, p90 \(String(format: "%.1f", ages[ages.count * 9 / 10])) ms (clocks within \(String(format: "%.1f", offset.width * 500)) ms); \(String(format: "%.1f", Double(ages.count) / 4)) pictures per second; processor of airframe-eyes \(String(format: "%.1f", alone * 100)) % alone, \(String(format: "%.1f", watched * 100)) % with a page"
            )
        }
    }

    /// Share of one processor that a process uses during the given seconds.
    private func processorShare(of process: pid_t, for seconds: Double) throws -> Double {
        func used() throws -> Double {
            let text = try String(
                decoding: bytes(of: FilePath("/proc/\(process)/stat")), as: UTF8.self)
            let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
            // utime and stime, proc(5), in ticks of 10 ms.
            return fields.count > 12 ? (Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0) : 0
        }
        let before = try used()
        usleep(UInt32(seconds * 1e6))
        return (try used() - before) / 100 / seconds
    }
}
