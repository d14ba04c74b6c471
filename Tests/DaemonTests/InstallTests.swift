import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite("Installed files") struct InstallTests {
    @Test(
        "every user can read the installed files, also if the person who installs has a strict umask",
        .enabled(if: access("/usr/bin/strip", X_OK) == 0), arguments: ["077", "027"])
    func masked(mask: String) throws {
        try withTemporaryDirectory { directory throws in
            let script = CommittedFile("etc/install-tree").path
            // The script only copies and strips the program, so any program is sufficient.
            let command = """
                cd '\(directory)' && mkdir bin && cp /bin/true bin/airframe && umask \(mask) &&
                '\(script)' "$PWD/bin" "$PWD/root" /usr /etc &&
                find root -type d ! -perm -0755 -o -type f ! -perm -0644
                """
            let install = try Program.run(["sh", "-c", command], in: directory)
            #expect(install.status == 0, "\(install.errors)")
            #expect(install.output == "", "other users cannot read these files")
        }
    }

    @Test(
        "airframe-eyes is installed with the models that make deps-eyes has fetched",
        .enabled(if: access("/usr/bin/strip", X_OK) == 0))
    func models() throws {
        try withTemporaryDirectory { directory throws in
            // This command replaces pip and the extraction of the wheels, so nothing is downloaded.
            let python = """
                #!/bin/sh
                [ "$1" = - ] || exit 0
                cd "$2" && touch libLiteRt.so pose_detection.tflite pose_landmark_full.tflite \
                    LICENSE.mediapipe LICENSE.litert

                """
            try write(python, to: directory.appending("python3"))
            let command = """
                cd '\(directory)' && mkdir bin && cp /bin/true bin/airframe-eyes &&
                chmod +x python3 && cp -r '\(CommittedFile("etc").path)' etc &&
                cp -r '\(CommittedFile("systemd").path)' systemd &&
                PATH="$PWD:$PATH" etc/fetch-eyes-models .build/eyes-models x86_64 &&
                etc/install-tree-eyes "$PWD/bin" "$PWD/root" /usr /etc >skipped &&
                cat skipped && ls root/usr/lib/airframe-eyes
                """
            let install = try Program.run(["sh", "-c", command], in: directory)
            #expect(install.status == 0, "\(install.errors)")
            #expect(
                install.output.split(separator: "\n").sorted() == [
                    "LICENSE.litert", "LICENSE.mediapipe",
                    "fetching the models and the library for finding people (60 MB)",
                    "libLiteRt.so", "pose_detection.tflite", "pose_landmark_full.tflite",
                ])
        }
    }

    @Test("without root, make install-python installs the client where the user's Python finds it")
    func python() throws {
        try withTemporaryDirectory { directory throws in
            let script = CommittedFile("etc/install-tree-python").path
            let command = """
                export HOME='\(directory)' PATH="/usr/bin:$PATH"
                unset PYTHONNOUSERSITE PYTHONUSERBASE PYTHONPATH
                '\(script)' '' "$HOME/.local" &&
                python3 -c 'import airframe; print(airframe.__file__)'
                """
            let install = try Program.run(["sh", "-c", command], in: directory)
            #expect(install.status == 0 && install.errors == "", "\(install.errors)")
            #expect(install.output.hasPrefix("\(directory)/.local/lib/python3"))
        }
    }

    @Test("make install-python replaces the client that an earlier version has copied elsewhere")
    func earlierPython() throws {
        try withTemporaryDirectory { directory throws in
            let script = CommittedFile("etc/install-tree-python").path
            // Python finds the module of an earlier version only with PYTHONPATH.
            let command = """
                export HOME='\(directory)' PATH="/usr/bin:$PATH"
                unset PYTHONNOUSERSITE PYTHONUSERBASE
                old="$HOME/.local/lib/python3" && mkdir -p "$old/airframe" &&
                touch "$old/airframe/__init__.py" && export PYTHONPATH="$old" &&
                '\(script)' '' "$HOME/.local" &&
                python3 -c 'import airframe; print(hasattr(airframe, "connect"))'
                """
            let install = try Program.run(["sh", "-c", command], in: directory)
            #expect(install.status == 0, "\(install.errors)")
            #expect(install.output == "True\n", "Python finds the earlier module first")
        }
    }

    @Test(
        "a restart of a shot or of a companion does not start an airframed that a person has stopped",
        arguments: ["airframe-shot@", "airframe-web", "airframe-eyes"])
    func stopped(unit: String) throws {
        let text = try CommittedFile("systemd/\(unit).service").text()
        // When systemd starts or restarts a unit, it also starts the units that these lines name.
        let pulls = text.split(separator: "\n").filter { line in
            ["Wants=", "Requires=", "BindsTo=", "Upholds="].contains { line.hasPrefix($0) }
        }
        #expect(pulls.allSatisfy { !$0.contains("airframed.service") })
    }

    @Test("a refused start of the service does not remove the socket of the airframed that runs")
    func refused() throws {
        let unit = try CommittedFile("systemd/airframed.service").text().split(separator: "\n")
        // Without the second line, systemd removes the socket's directory when the service ends,
        // also if another airframed has created the socket (systemd.exec(5)).
        #expect(unit.contains("RuntimeDirectory=airframe"))
        #expect(unit.contains("RuntimeDirectoryPreserve=yes"))
    }

    @Test("a core dump does not delay the command that switches the motors off after a crash")
    func coreDump() throws {
        let unit = try CommittedFile("systemd/airframed.service").text().split(separator: "\n")
        #expect(unit.contains { $0.hasPrefix("ExecStopPost=") && $0.hasSuffix("--outputs-off") })
        // The kernel writes no dump with this limit, neither to a file nor to a program
        // (do_coredump in fs/coredump.c).
        #expect(unit.contains("LimitCORE=1"))
    }

    @Test(
        "make deps installs only packages whose names are neither installed nor provided",
        .enabled(if: access("/usr/bin/make", X_OK) == 0))
    func dependencies() throws {
        try withTemporaryDirectory { directory throws in
            // The scripts replace the commands, so nothing is installed. On Debian 13, libcurl4t64
            // provides libcurl4.
            let scripts = [
                "dpkg-query": #"""
                case "$*" in
                *' git') echo 'install ok installed' ;;
                *db:Status-Status*)
                    echo 'installed git, '
                    echo 'installed libcurl4t64, libcurl4 (= 8.14.1-2)'
                    echo 'config-files tmux, ' ;;
                esac
                """#,
                "apt-get": "exit 0", "sudo": #"exec "$@""#, "swift": "exit 0",
            ]
            for (name, script) in scripts {
                try write("#!/bin/sh\n\(script)\n", to: directory.appending(name))
            }
            let command = """
                cd '\(directory)' && chmod +x \(scripts.keys.joined(separator: " ")) &&
                unset MAKEFLAGS MAKELEVEL && PATH="$PWD:$PATH" make -s --no-print-directory \
                    -C "$(dirname '\(CommittedFile("Makefile").path)')" deps \
                    APT_PACKAGES='git libcurl4 tmux'
                """
            let make = try Program.run(["sh", "-c", command], in: directory)
            #expect(make.status == 0, "\(make.errors)")
            #expect(make.output == "installing: tmux\n")
        }
    }

    @Test(
        "a removed package does not mask its service, which make install can install again",
        arguments: ["etc/debian/postrm", "etc/debian/eyes/postrm", "etc/debian/web/postrm"])
    func removed(script: String) throws {
        try withTemporaryDirectory { directory throws in
            // The scripts replace the commands, so the services of this computer do not change.
            let names = ["deb-systemd-helper", "systemctl"]
            for name in names {
                try write("#!/bin/sh\necho \"$1\" >&2\n", to: directory.appending(name))
            }
            let command = """
                cd '\(directory)' && chmod +x \(names.joined(separator: " ")) &&
                PATH="$PWD:$PATH" sh '\(CommittedFile(script).path)' remove
                """
            let removal = try Program.run(["sh", "-c", command], in: directory)
            #expect(removal.status == 0)
            #expect(!removal.errors.contains("mask"), "\(removal.errors)")
        }
    }

    @Test(
        "the packages name the programs of make install that hide their own programs",
        arguments: ["airframectl", "airframe-eyes", "airframe-web"], [true, false])
    func hidden(program: String, isHidden: Bool) throws {
        let folders = ["airframe-eyes": "eyes/", "airframe-web": "web/"]
        let package = CommittedFile("etc/debian/\(folders[program] ?? "")postinst").path
        try withTemporaryDirectory { directory throws in
            // The functions replace the commands, so nothing is activated.
            let command = """
                cd '\(directory)' && mkdir -p local/bin &&
                \(isHidden) && touch local/bin/\(program)
                sed "s|/usr/local|$PWD/local|g; s|/run/systemd|$PWD/run|g" \
                    '\(package)' > postinst
                activate() { :; }
                command() { false; }
                set -- configure 0.1.0
                . ./postinst
                """
            let script = try Program.run(["sh", "-c", command], in: directory)
            #expect(script.status == 0, "\(script.errors)")
            let remedy = script.output.split(separator: "\n")
                .first { $0.contains("sudo rm") && $0.contains("\(directory)/local/bin/") }
            #expect(remedy?.contains("/\(program)") == (isHidden ? true : nil))
        }
    }

    @Test("make uninstall keeps the files and the running service of a Debian package")
    func uninstalledBesidePackage() throws {
        try withTemporaryDirectory { directory throws in
            // The functions replace the commands. The package contains the files of airframed.
            let command = """
                systemctl() { [ "$1" != stop ] || echo "stopped $2"; }
                rm() { echo "$@"; }
                dpkg() { case $2 in /lib/systemd/system/airframed.service | \
                    */airframe-shot@.service | */60-airframe.rules | */airframe.conf) ;; *) false ;; esac; }
                set -- '' /usr/local
                . '\(CommittedFile("etc/uninstall-tree").path)'
                """
            let script = try Program.run(["sh", "-c", command], in: directory)
            #expect(script.status == 0, "\(script.errors)")
            for kept in ["airframed.service", "airframe-shot@", "60-airframe", "/airframe.conf"] {
                #expect(!script.output.contains(kept), "\(kept): \(script.output)")
            }
            for gone in ["/usr/local/sbin/airframed", "stopped airframe-web.service"] {
                #expect(script.output.contains(gone), "\(gone): \(script.output)")
            }
        }
    }

    @Test("make uninstall stops the services, airframed last, before it removes their programs")
    func uninstalled() throws {
        try withTemporaryDirectory { directory throws in
            // The functions replace the commands, so nothing is stopped or removed.
            let command = """
                systemctl() { [ "$1" != stop ] || echo "$2"; }
                rm() { echo removed; }
                dpkg() { false; }
                set -- '' /nonexistent
                . '\(CommittedFile("etc/uninstall-tree").path)'
                """
            let script = try Program.run(["sh", "-c", command], in: directory)
            #expect(script.status == 0, "\(script.errors)")
            let steps = script.output.split(separator: "\n").map(String.init)
            #expect(
                steps.prefix { $0 != "removed" } == [
                    "airframe-shot@*.service", "airframe-web.service", "airframe-eyes.service",
                    "airframed.service",
                ])
            #expect(steps.last == "removed")
        }
    }
}
