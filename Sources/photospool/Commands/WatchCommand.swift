extension Command {
    static let watch = Command(
        name: "watch",
        summary: "follow the imports live",
        options: [Option("until-idle", "end once there is nothing left to do")],
        details: [
            "Draws bars on standard error when that is a terminal, and otherwise a line every ten seconds. Standard output"
                + " gets a line for each job that ended; with bars on the same terminal, only for those that were not"
                + " simply imported. With --json it gets the status, then every event, one JSON object a line.",
            "When the service goes away, it waits for it to come back. With --until-idle it exits with 1 when a job failed"
                + " meanwhile, and 0 otherwise. Ctrl-C ends it with 130; the imports go on.",
        ],
        examples: [
            .init("photospool watch", "bars, with 23 of 80 and bytes"),
            .init("photospool watch --until-idle && umount /srv/drop/card", "take the card out when all is safe"),
            .init("photospool watch --json | jq -c 'select(.event == \"job\")'", "every change of a job"),
        ]
    ) { invocation throws(Failure) in
        try Watching(invocation, untilIdle: invocation.has("until-idle")).run()
    }
}
