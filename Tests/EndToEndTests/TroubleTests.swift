import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("Trouble", .tags(.neverLost, .saysWhatIsWrong)) struct TroubleTests {
    @Test(.timeLimit(.minutes(2)))
    func `of a person who changes their mind: a source due for deletion is kept once the rules say keep`() async throws
    {
        let installation = try Installation(dropKeys: "after_import = \"delete\"")
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        // An import that stands, whose source could not be disposed of before the daemon died.
        try await installation.start()
        try await installation.waitUntilIdle()
        try await installation.wait(for: "the deletion") {
            try installation.jobs().first?.disposition.state == "deleted"
        }
        installation.kill()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        _ = try Programs.run(
            "/usr/bin/sqlite3", [installation.state.path + "/spool.db", "UPDATE job SET disposition = 'pending'"])
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("after_import = \"delete\"", with: "after_import = \"keep\"").write(
            to: installation.configuration, atomically: true, encoding: .utf8)
        try await installation.start()
        try await installation.wait(for: "the decision") {
            try installation.jobs().contains { $0.disposition.state == "keep" }
        }
        try await installation.waitUntilIdle()
        #expect(try installation.files(below: installation.drop) == ["IMG_0001.JPG"])
        installation.stop()
    }

    @Test(.timeLimit(.minutes(3)), .tags(.harmsNobody))
    func `of a picture too large for a decoder stays that picture's, and its original is imported`() async throws {
        let installation = try Installation()
        try interlacedBomb().write(to: installation.drop.appending(path: "A.PNG"))
        for number in 1...4 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let status = try installation.status()
        #expect(status.queue.imported == 5)
        #expect(status.state == "running")
        let bomb = try #require(try installation.assets().first { $0.resources[0].path.hasSuffix(".PNG") })
        #expect(bomb.preview.state == "failed")
        #expect(bomb.preview.code == "E_TOO_LARGE")
        installation.stop()
    }

    /// 19,500 x 19,500 pixels of one bit, interlaced: 46 KB, and more than 2 GiB to take apart. Made by ImageMagick's
    /// `convert -size 19500x19500 xc:white -monochrome -interlace PNG`, but without needing the memory for it here.
    private func interlacedBomb() throws -> Data {
        let folder = try TemporaryFolder()
        let path = folder.path + "/bomb.png"
        let script = """
            import struct, sys, zlib
            w = h = 19500
            def chunk(kind, data):
                return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
            packer, out = zlib.compressobj(9), []
            for x0, y0, dx, dy in ((0,0,8,8),(4,0,8,8),(0,4,4,8),(2,0,4,4),(0,2,2,4),(1,0,2,2),(0,1,1,2)):
                columns, rows = (w - x0 + dx - 1) // dx, (h - y0 + dy - 1) // dy
                line = bytes(1 + (columns + 7) // 8)
                for _ in range(rows): out.append(packer.compress(line))
            out.append(packer.flush())
            png = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 1, 0, 0, 0, 1))
            open(sys.argv[1], 'wb').write(png + chunk(b'IDAT', b''.join(out)) + chunk(b'IEND', b''))
            """
        let outcome = try Programs.run("/usr/bin/python3", ["-c", script, path])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try Data(contentsOf: URL(filePath: path))
    }

    @Test(.timeLimit(.minutes(2)))
    func `with the library at start is over once it is mended, without a restart`() async throws {
        let installation = try Installation()
        try await installation.start()
        installation.stop()
        let staging = installation.library.appending(path: ".photospool/staging")
        try FileManager.default.removeItem(at: staging)
        try Data().write(to: staging)
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.wait(for: "the queue") { try installation.status().queue.queued == 1 }
        // Two probes later it is still said, and nothing claims that work goes on.
        try await installation.wait(for: "a second probe") { try installation.status().uptime >= 6 }
        #expect(try installation.status().state == "degraded")
        #expect(try !installation.status().reasons.isEmpty)
        #expect(!installation.logText.contains("Work goes on"))
        try FileManager.default.removeItem(at: staging)
        try await installation.wait(for: "the import") { try installation.status().queue.imported == 1 }
        #expect(try installation.status().state == "running")
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `with one interrupted import that nobody can read stays that job's`() async throws {
        let installation = try Installation()
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        installation.stop()
        _ = try Programs.run(
            "/usr/bin/sqlite3",
            [
                installation.state.path + "/spool.db",
                "UPDATE job SET state = 'committing', import_id = 'x', intent = '{\"torn', journal_id = 1",
            ])
        try Samples.variant(2).write(to: installation.drop.appending(path: "IMG_0002.JPG"))
        try await installation.start()
        try await installation.waitUntilIdle()
        #expect(try installation.jobs().map(\.state).sorted() == ["failed", "imported"])
        #expect(try installation.visibleFiles().count == 2)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `of two photos with equal sidecars: they stay two`() async throws {
        let installation = try Installation()
        for number in 1...2 {
            try Samples.variant(number).write(to: installation.drop.appending(path: "IMG_\(number).JPG"))
            try Data("<plist/>".utf8).write(to: installation.drop.appending(path: "IMG_\(number).AAE"))
        }
        try await installation.start()
        try await installation.waitUntilIdle()
        let assets = try installation.assets()
        #expect(assets.count == 2)
        #expect(assets.allSatisfy { $0.resources.count == 2 && $0.preview.state == "ok" })
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `of one photo that is too large for the rest of the disk leaves room to the small ones`() async throws {
        let temporary = FileManager.default.temporaryDirectory
        let values = try temporary.resourceValues(forKeys: [.volumeAvailableCapacityKey])
        let free = try #require(values.volumeAvailableCapacity)
        // Some is to be had beside the reserve, and the first photo, a sparse file, says it has three times as much.
        let spare = min(2 << 30, free / 2)
        try #require(spare > 256 << 20)
        let installation = try Installation(reserveFree: "\(free - spare)B")
        let big = installation.drop.appending(path: "A.JPG")
        try Data(contentsOf: Samples.photo).write(to: big)
        let handle = try FileHandle(forWritingTo: big)
        try handle.truncate(atOffset: UInt64(3 * spare))
        try handle.close()
        try installation.place(Samples.photo, as: "B.JPG")
        try await installation.start()
        try await installation.wait(for: "the small photo") { try installation.status().queue.imported == 1 }
        let big1 = try #require(try installation.jobs("&state=queued").first)
        #expect(big1.error?.code == "E_LIBRARY_FULL")
        #expect(big1.attempts == 0)
        installation.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `of yesterday does not fail a run of --once`() throws {
        let installation = try Installation()
        func runOnce() throws -> Int32 {
            try installation.launch(arguments: ["--once"])
            let daemon = try #require(installation.daemon)
            daemon.waitUntilExit()
            installation.daemon = nil
            return daemon.terminationStatus
        }
        try installation.place(Samples.corrupt, as: "IMG_0004.JPG")
        #expect(try runOnce() == 1)
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        #expect(try runOnce() == 0)
        #expect(try installation.visibleFiles().count == 1)
    }

    @Test(.timeLimit(.minutes(2)))
    func `of a link in a drop folder: what is moved never leaves by it`() async throws {
        let installation = try Installation(dropKeys: "after_import = \"move\"")
        let elsewhere = installation.folder.url.appending(path: "elsewhere")
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: installation.drop.appending(path: ".imported"), withDestinationURL: elsewhere)
        try installation.place(Samples.photo, as: "IMG_0001.JPG")
        try await installation.start()
        try await installation.waitUntilIdle()
        try await installation.wait(for: "the decision") { try installation.jobs().first?.disposition.state == "kept" }
        #expect(try installation.jobs().first?.disposition.code == "E_DISPOSITION")
        #expect(try installation.files(below: installation.drop) == ["IMG_0001.JPG"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
        installation.stop()
    }
}
