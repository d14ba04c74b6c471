import GimbalCore
import Testing

@testable import Realtime

@Suite("Threads and their real-time rights")
struct RealtimeThreadTests {
    @Test("an ordinary thread runs its body and reports no problem")
    func ordinary() throws {
        let bell = Doorbell()
        let thread = try RealtimeThread(ThreadConfiguration(name: "plain", priority: nil)) {
            bell.ring()
        }
        #expect(bell.wait(until: .minuteAhead) == .rung)
        #expect(thread.join(until: .minuteAhead))
        #expect(thread.report.problems.isEmpty)
        #expect(thread.report.policy == .other)
        #expect(!thread.report.isRealtime)
        #expect(thread.report.threadID > 0)
        bell.deallocate()
    }

    @Test("SCHED_FIFO is either confirmed by the kernel or refused with a sentence")
    func fifo() throws {
        let thread = try RealtimeThread(ThreadConfiguration(name: "fifo", priority: 5, cpu: 0)) {}
        #expect(thread.join(until: .minuteAhead))
        if thread.report.isRealtime {
            #expect(thread.report.priority == 5)
        } else {
            #expect(thread.report.problems.first?.contains("no real-time priority") == true)
        }
    }

    @Test("a missing CPU is reported in a sentence, and the thread still runs")
    func noSuchCPU() throws {
        let thread = try RealtimeThread(
            ThreadConfiguration(name: "lost", priority: nil, cpu: 1000)
        ) {}
        #expect(thread.join(until: .minuteAhead))
        #expect(thread.report.problems.count == 1)
        #expect(thread.report.problems.first?.contains("CPU 1000") == true)
    }

    @Test("an impossible priority is refused, not lowered silently")
    func impossiblePriority() throws {
        let thread = try RealtimeThread(ThreadConfiguration(name: "high", priority: 200)) {}
        #expect(thread.join(until: .minuteAhead))
        #expect(thread.report.policy == .other)
        #expect(thread.report.problems.first?.contains("SCHED_FIFO 200 was refused") == true)
    }

    @Test("a refusal contains its cause and the remedy")
    func explanations() {
        let user = RealtimeRights(
            isRoot: false, priorityLimit: 0, cpuGroup: nil, groupRuntimeMicroseconds: nil)
        let limited = user.explain(error: 1, thread: "airframed-loop", priority: 81)
        #expect(limited.contains("EPERM; RLIMIT_RTPRIO is 0"))
        #expect(limited.contains("LimitRTPRIO=81"))

        let grouped = RealtimeRights(
            isRoot: true, priorityLimit: nil, cpuGroup: "/system.slice",
            groupRuntimeMicroseconds: 0)
        let group = grouped.explain(error: 1, thread: "airframed-loop", priority: 81)
        #expect(group.contains("RT_GROUP_SCHED"))
        #expect(group.contains("/system.slice"))

        let root = RealtimeRights(
            isRoot: true, priorityLimit: nil, cpuGroup: nil, groupRuntimeMicroseconds: nil)
        #expect(root.explain(error: 1, thread: "x", priority: 1).contains("although root"))
        #expect(root.explain(error: 22, thread: "x", priority: 200).contains("errno 22"))
    }

    @Test(
        "finds the cpu cgroup in /proc/self/cgroup",
        arguments: [
            ("4:memory:/a\n1:cpu:/\n0::/", nil),
            ("2:cpu,cpuacct:/docker/abc\n", "/docker/abc"),
            ("0::/user.slice", nil),
            ("3:cpuacct:/x", nil),
            ("", nil),
        ])
    func cgroup(text: String, expected: String?) {
        #expect(RealtimeRights.cpuGroup(in: text) == expected)
    }

    @Test("reads a size from /proc/self/status, and 0 if it is missing")
    func status() {
        let text = "Name:\tx\nVmLck:\t    12 kB\nVmRSS:\t  4096 kB\n"
        #expect(RealtimeSetup.statusField("VmLck", in: text) == 12 * 1024)
        #expect(RealtimeSetup.statusField("VmRSS", in: text) == 4096 * 1024)
        #expect(RealtimeSetup.statusField("VmSwap", in: text) == 0)
    }

    @Test("a refused memory lock names the limit to raise")
    func lockRefused() {
        #expect(RealtimeSetup.explainLock(error: 1).contains("LimitMEMLOCK=infinity"))
        #expect(RealtimeSetup.explainLock(error: 12).contains("ENOMEM"))
        #expect(RealtimeSetup.explainLock(error: 11).contains("errno 11"))
    }
}
