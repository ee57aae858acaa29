/// The tables, in steps. Step n (counting from 1) brings a database from `user_version` n - 1 to n, in one transaction.
/// A released step is never edited; a change is a new step at the end.
enum Schema {
    static let steps: [String] = [first, second, third, fourth, fifth, sixth, seventh]

    /// - Times are nanoseconds since 1970, paths and digests BLOBs, ids of assets and imports UUIDv7 text.
    /// - `job.order_key` is ``NaturalOrder``'s key of the leading file.
    /// - `job_file.is_current`: the row answers for that version of the file. It is 0 in history: when the file vanished
    ///   and may come back, or when a newer job took the file over. Of the current ones each version has one.
    /// - `tally` and the counts in `batch` are kept by triggers: counting a million rows would take longer than a
    ///   status page may.
    private static let first = """
        CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

        CREATE TABLE batch (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            drop_name TEXT NOT NULL,
            is_manual INTEGER NOT NULL CHECK (is_manual IN (0, 1)),
            created_at INTEGER NOT NULL,
            last_job_at INTEGER NOT NULL,
            closed_at INTEGER,
            last_sequence INTEGER NOT NULL DEFAULT 0,
            is_numbered INTEGER NOT NULL DEFAULT 1 CHECK (is_numbered IN (0, 1)),
            total INTEGER NOT NULL DEFAULT 0,
            done INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX batch_open ON batch (drop_name, is_manual) WHERE closed_at IS NULL;

        CREATE TABLE asset (
            id TEXT PRIMARY KEY,
            kind TEXT NOT NULL,
            collection TEXT NOT NULL,
            captured_at TEXT NOT NULL, -- 2026-05-17T09:04:31.87, sorts as text; '' when unknown
            captured_offset TEXT,
            date_source TEXT,
            make TEXT,
            model TEXT,
            lens TEXT,
            latitude REAL,
            longitude REAL,
            width INTEGER,
            height INTEGER,
            orientation INTEGER NOT NULL,
            content_identifier TEXT,
            is_screenshot INTEGER NOT NULL CHECK (is_screenshot IN (0, 1)),
            preview_state TEXT NOT NULL,
            preview_code TEXT,
            preview_title TEXT,
            preview_recovery TEXT,
            preview_path BLOB,
            preview_width INTEGER,
            preview_height INTEGER,
            imported_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX asset_captured ON asset (captured_at, id);
        CREATE INDEX asset_content ON asset (content_identifier) WHERE content_identifier IS NOT NULL;
        CREATE INDEX asset_preview ON asset (preview_state, id) WHERE preview_state <> 'ok';

        CREATE TABLE resource (
            asset_id TEXT NOT NULL REFERENCES asset (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            role TEXT NOT NULL,
            path BLOB NOT NULL UNIQUE,
            source_path BLOB NOT NULL,
            size INTEGER NOT NULL,
            sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
            mtime_ns INTEGER NOT NULL,
            media_type TEXT NOT NULL,
            PRIMARY KEY (asset_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX resource_sha256 ON resource (sha256);

        CREATE TABLE tombstone (
            sha256 BLOB PRIMARY KEY CHECK (length(sha256) = 32),
            asset_id TEXT,
            path BLOB,
            at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE journal (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            job_id INTEGER,
            import_id TEXT,
            what TEXT NOT NULL,
            path BLOB,
            sha256 BLOB,
            detail TEXT,
            outcome TEXT
        ) STRICT;
        CREATE INDEX journal_job ON journal (job_id);
        CREATE INDEX journal_open ON journal (job_id) WHERE outcome IS NULL;
        CREATE TRIGGER journal_keeps_its_lines BEFORE DELETE ON journal
        BEGIN SELECT RAISE (ABORT, 'the journal is append-only'); END;
        CREATE TRIGGER journal_keeps_its_words BEFORE UPDATE ON journal
        WHEN OLD.outcome IS NOT NULL OR OLD.id <> NEW.id OR OLD.at <> NEW.at OR OLD.what <> NEW.what
            OR OLD.job_id IS NOT NEW.job_id OR OLD.import_id IS NOT NEW.import_id OR OLD.path IS NOT NEW.path
            OR OLD.sha256 IS NOT NEW.sha256 OR OLD.detail IS NOT NEW.detail
        BEGIN SELECT RAISE (ABORT, 'the journal is append-only'); END;

        CREATE TABLE job (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            state TEXT NOT NULL CHECK (state IN ('queued', 'copying', 'previewing', 'committing', 'imported', 'failed',
                'duplicate', 'vanished', 'skipped', 'cancelled')),
            drop_name TEXT NOT NULL,
            batch_id INTEGER NOT NULL REFERENCES batch (id),
            order_key BLOB NOT NULL,
            sequence INTEGER NOT NULL,
            is_manual INTEGER NOT NULL CHECK (is_manual IN (0, 1)),
            attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
            crash_count INTEGER NOT NULL DEFAULT 0 CHECK (crash_count >= 0),
            not_before INTEGER,
            import_id TEXT,
            intent TEXT,
            journal_id INTEGER,
            problem_code TEXT,
            problem_title TEXT,
            problem_recovery TEXT,
            disposition TEXT NOT NULL DEFAULT 'keep' CHECK (disposition IN ('keep', 'pending', 'moved', 'deleted', 'kept')),
            disposition_code TEXT,
            disposition_title TEXT,
            disposition_recovery TEXT,
            asset_id TEXT REFERENCES asset (id) ON DELETE SET NULL,
            created_at INTEGER NOT NULL,
            finished_at INTEGER
        ) STRICT;
        CREATE INDEX job_ready ON job (drop_name, batch_id, order_key)
            WHERE state = 'queued' AND not_before IS NULL AND crash_count = 0;
        CREATE INDEX job_suspect ON job (batch_id, order_key)
            WHERE state = 'queued' AND not_before IS NULL AND crash_count > 0;
        CREATE INDEX job_due ON job (not_before) WHERE state = 'queued' AND not_before IS NOT NULL;
        CREATE INDEX job_in_flight ON job (batch_id) WHERE state IN ('copying', 'previewing', 'committing');
        CREATE INDEX job_to_dispose ON job (id) WHERE disposition = 'pending';
        CREATE INDEX job_state ON job (state);
        CREATE INDEX job_drop ON job (drop_name);
        CREATE INDEX job_drop_state ON job (drop_name, state);
        CREATE INDEX job_batch ON job (batch_id);
        CREATE INDEX job_order ON job (batch_id, order_key);
        CREATE INDEX job_asset ON job (asset_id) WHERE asset_id IS NOT NULL;

        CREATE TABLE job_file (
            job_id INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            role TEXT NOT NULL,
            drop_name TEXT NOT NULL,
            filesystem TEXT NOT NULL,
            path BLOB NOT NULL,
            size INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            device INTEGER NOT NULL, -- device and inode are unsigned 64 bits, kept as the same bits signed
            inode INTEGER NOT NULL,
            is_current INTEGER NOT NULL DEFAULT 1 CHECK (is_current IN (0, 1)),
            PRIMARY KEY (job_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX job_file_version ON job_file (drop_name, filesystem, path, size, mtime_ns)
            WHERE is_current = 1;

        CREATE TABLE tally (name TEXT PRIMARY KEY, jobs INTEGER NOT NULL CHECK (jobs >= 0)) STRICT, WITHOUT ROWID;
        INSERT INTO tally (name, jobs) VALUES ('queued', 0), ('copying', 0), ('previewing', 0), ('committing', 0),
            ('imported', 0), ('failed', 0), ('duplicate', 0), ('vanished', 0), ('skipped', 0), ('cancelled', 0),
            ('waiting', 0); -- queued with a time not to start before

        CREATE TRIGGER job_counts_added AFTER INSERT ON job BEGIN
            UPDATE tally SET jobs = jobs + 1 WHERE name = NEW.state;
            UPDATE batch SET total = total + 1,
                done = done + (NEW.state NOT IN ('queued', 'copying', 'previewing', 'committing')),
                failed = failed + (NEW.state = 'failed')
            WHERE id = NEW.batch_id;
        END;
        CREATE TRIGGER job_counts_removed AFTER DELETE ON job BEGIN
            UPDATE tally SET jobs = jobs - 1 WHERE name = OLD.state;
            UPDATE tally SET jobs = jobs - 1
            WHERE name = 'waiting' AND OLD.state = 'queued' AND OLD.not_before IS NOT NULL;
            UPDATE batch SET total = total - 1,
                done = done - (OLD.state NOT IN ('queued', 'copying', 'previewing', 'committing')),
                failed = failed - (OLD.state = 'failed')
            WHERE id = OLD.batch_id;
        END;
        CREATE TRIGGER job_counts_moved AFTER UPDATE OF state ON job WHEN OLD.state <> NEW.state BEGIN
            UPDATE tally SET jobs = jobs - 1 WHERE name = OLD.state;
            UPDATE tally SET jobs = jobs + 1 WHERE name = NEW.state;
            UPDATE batch SET
                done = done - (OLD.state NOT IN ('queued', 'copying', 'previewing', 'committing'))
                    + (NEW.state NOT IN ('queued', 'copying', 'previewing', 'committing')),
                failed = failed - (OLD.state = 'failed') + (NEW.state = 'failed')
            WHERE id = NEW.batch_id;
        END;
        CREATE TRIGGER job_counts_waiting AFTER UPDATE OF state, not_before ON job
        WHEN (OLD.state = 'queued' AND OLD.not_before IS NOT NULL)
            <> (NEW.state = 'queued' AND NEW.not_before IS NOT NULL)
        BEGIN
            UPDATE tally SET jobs = jobs - (OLD.state = 'queued' AND OLD.not_before IS NOT NULL)
                + (NEW.state = 'queued' AND NEW.not_before IS NOT NULL)
            WHERE name = 'waiting';
        END;
        """

    /// Late members. A job whose `waits_for` names another is not ready until that one has ended, however it ends, or is
    /// gone: triggers let it go in the same transaction, so that nobody has to look again and again.
    private static let second = """
        ALTER TABLE job ADD COLUMN waits_for INTEGER;
        CREATE INDEX job_waiting ON job (waits_for) WHERE waits_for IS NOT NULL;
        DROP INDEX job_ready;
        CREATE INDEX job_ready ON job (drop_name, batch_id, order_key)
            WHERE state = 'queued' AND not_before IS NULL AND crash_count = 0 AND waits_for IS NULL;
        DROP INDEX job_suspect;
        CREATE INDEX job_suspect ON job (batch_id, order_key)
            WHERE state = 'queued' AND not_before IS NULL AND crash_count > 0 AND waits_for IS NULL;
        CREATE TRIGGER job_lets_others_go AFTER UPDATE OF state ON job
        WHEN NEW.state NOT IN ('queued', 'copying', 'previewing', 'committing')
        BEGIN UPDATE job SET waits_for = NULL WHERE waits_for = NEW.id; END;
        CREATE TRIGGER job_lets_others_go_with_it AFTER DELETE ON job
        BEGIN UPDATE job SET waits_for = NULL WHERE waits_for = OLD.id; END;
        """

    /// For sources that may be known: a size names few originals.
    private static let third = "CREATE INDEX resource_size ON resource (size);"

    /// Operations, and what they found.
    private static let fourth = """
        CREATE TABLE operation (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            arguments TEXT NOT NULL, -- JSON object of text
            state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
            cursor TEXT, -- where to go on; of the kind's own making
            done INTEGER NOT NULL DEFAULT 0,
            total INTEGER,
            findings INTEGER NOT NULL DEFAULT 0,
            results TEXT NOT NULL DEFAULT '{}',
            problem_code TEXT,
            problem_title TEXT,
            problem_recovery TEXT,
            created_at INTEGER NOT NULL,
            finished_at INTEGER
        ) STRICT;
        CREATE INDEX operation_waiting ON operation (id) WHERE state IN ('queued', 'running');
        CREATE TABLE finding (
            operation_id INTEGER NOT NULL REFERENCES operation (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            kind TEXT NOT NULL,
            path BLOB,
            asset_id TEXT,
            detail TEXT NOT NULL,
            PRIMARY KEY (operation_id, position)
        ) STRICT, WITHOUT ROWID;
        """

    /// The mirror. `was_there` is no longer asked: whatever is to leave is compared first. Of each original, whether it is there: 0 no, 1 yes, 2 no and it takes somebody to change that. What
    /// leaves the catalog has to leave the mirror; a trigger notes it, however it leaves. `mirrored` is the same in all of an
    /// index, and makes it one that answers by itself: a million are counted in 66 ms and not in 370.
    private static let fifth = """
        ALTER TABLE resource ADD COLUMN mirrored INTEGER NOT NULL DEFAULT 0 CHECK (mirrored IN (0, 1, 2));
        CREATE INDEX resource_to_mirror ON resource (mirrored, asset_id, position) WHERE mirrored = 0;
        CREATE INDEX resource_refused ON resource (mirrored, asset_id, position) WHERE mirrored = 2;
        CREATE TABLE mirror_removal (
            id INTEGER PRIMARY KEY,
            asset_id TEXT NOT NULL,
            path BLOB NOT NULL,
            size INTEGER NOT NULL,
            sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
            was_there INTEGER NOT NULL CHECK (was_there IN (0, 1))
        ) STRICT;
        CREATE INDEX mirror_removal_path ON mirror_removal (path);
        CREATE TRIGGER resource_leaves_the_mirror AFTER DELETE ON resource
        WHEN EXISTS (SELECT 1 FROM setting WHERE key = 'mirror_id')
        BEGIN
            INSERT INTO mirror_removal (asset_id, path, size, sha256, was_there)
            VALUES (OLD.asset_id, OLD.path, OLD.size, OLD.sha256,
                OLD.mirrored = 1 AND NOT EXISTS (SELECT 1 FROM setting WHERE key = 'mirror_reset'));
        END;
        """

    /// What a camera said of the time and nobody believed, written as `captured_at` is.
    private static let sixth = """
        ALTER TABLE asset ADD COLUMN implausible_at TEXT;
        ALTER TABLE asset ADD COLUMN implausible_source TEXT;
        """

    /// Further sizes of the preview, as JSON: name, crop, path and size of each. They come and go with it, and nobody looks
    /// for one by itself.
    private static let seventh = "ALTER TABLE asset ADD COLUMN renditions TEXT;"
}
