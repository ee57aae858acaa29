package import PhotoModel

/// The items of `GET /v1/batches`.
package struct BatchBody: Codable, Hashable, Sendable {
    package var id: Int64
    /// Empty for a batch that was queued by hand.
    package var drop: String
    package var done: Int
    package var total: Int
    package var failed: Int
    package var createdAt: String
    /// When it stopped taking new jobs.
    @OrNull package var closedAt: String?

    private enum CodingKeys: String, CodingKey {
        case id, drop, done, total, failed
        case createdAt = "created_at"
        case closedAt = "closed_at"
    }

    package init(_ batch: Batch) {
        id = batch.id
        drop = batch.drop
        done = batch.done
        total = batch.total
        failed = batch.failed
        createdAt = batch.createdAt.rfc3339
        closedAt = batch.closedAt?.rfc3339
    }
}

/// `GET /v1/batches/{id}`: the batch and, page by page, what became of each of its jobs.
package struct BatchDetailBody: Codable, Hashable, Sendable {
    package var batch: BatchBody
    package var jobs: ListBody<JobBody>

    private enum CodingKeys: String, CodingKey { case jobs }

    package init(_ batch: Batch, jobs: ListBody<JobBody>) {
        self.batch = BatchBody(batch)
        self.jobs = jobs
    }

    package init(from decoder: any Decoder) throws {
        batch = try BatchBody(from: decoder)
        jobs = try decoder.container(keyedBy: CodingKeys.self).decode(ListBody<JobBody>.self, forKey: .jobs)
    }

    /// One flat object: the batch's fields and `jobs` beside them.
    package func encode(to encoder: any Encoder) throws {
        try batch.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(jobs, forKey: .jobs)
    }
}
