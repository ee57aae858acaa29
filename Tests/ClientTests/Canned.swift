import FakeService

/// Answers in the words of DESIGN section 10.
enum Canned {
    static let error = """
        {"code":"E_CORRUPT","title":"Damaged file","detail":"IMG_0002.HEIC ends too early.",\
        "recovery":"Copy it again.","transient":false}
        """

    static func status(
        state: String = "running", idle: Bool = false, importing: String = "", reasons: String = "", failed: Int = 2,
        done: Int = 23
    ) -> String {
        """
        {"version":"9.8.7","state":"\(state)","reasons":[\(reasons)],"uptime_s":93784,\
        "queue":{"queued":57,"importing":1,"imported":1204,"duplicate":3,"failed":\(failed),"cancelled":0,\
        "vanished":0,"skipped":0,"retrying":1},"idle":\(idle),"importing":[\(importing)],\
        "batch":{"id":12,"done":\(done),"total":80,"failed":2},\
        "library":{"path":"/srv/photos","free_bytes":442381631488},\
        "drops":[{"name":"card","path":"/srv/drop/card","mode":"inotify","health":"ok","watches":12,"candidates":3,\
        "waiting_for_others":0,"reasons":[]},{"name":"nas","path":"/mnt/nas","mode":"poll","health":"waiting",\
        "watches":0,"candidates":0,"waiting_for_others":0,"reasons":[]}],\
        "rates":{"files_per_s":3.2,"bytes_per_s":41943040.0}}
        """
    }

    static let importing = """
        {"job_id":101,"batch_id":12,"phase":"copying","path":"/srv/drop/card/IMG_0023.HEIC","bytes_done":1258291,\
        "bytes_total":3565158}
        """

    static func job(_ id: Int, state: String = "failed", file: String = "IMG_0002.HEIC") -> String {
        """
        {"id":\(id),"state":"\(state)","drop":"card","batch_id":12,"sequence":2,"attempts":1,\
        "files":[{"role":"photo","path":"/srv/drop/card/\(file)","size":3565158}],\
        "error":\(state == "failed" ? error : "null"),"disposition":{"state":"keep","code":null,"detail":null},\
        "not_before":null,"asset_id":null,"created_at":"2026-01-02T03:04:05.000Z",\
        "finished_at":"2026-01-02T03:05:05.000Z"}
        """
    }

    static func jobEvent(_ id: Int, _ job: Int, _ state: String) -> String {
        let problem = state == "failed" ? error : "null"
        return """
            id: \(id)
            event: job
            data: {"id":\(job),"batch_id":12,"drop":"card","state":"\(state)","error":\(problem),"asset_id":null}


            """
    }
}
