BEGIN TRANSACTION;
CREATE TABLE annotations (
    job TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    tags TEXT NOT NULL,
    note TEXT NOT NULL,
    position INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "annotations" VALUES('job1AAAAAAAAAAAAAAAAAA','ann','calib study:A-17','why it failed: no memory',22);
CREATE TABLE descriptions (sha TEXT PRIMARY KEY, text TEXT NOT NULL);
INSERT INTO "descriptions" VALUES('4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3','Executable = "/bin/true"; Arguments = "_PARAM_";');
CREATE TABLE documents (
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (owner, name)
);
INSERT INTO "documents" VALUES('ann','workspace','{"open":[]}');
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    job TEXT NOT NULL,
    seq INTEGER NOT NULL,
    time REAL NOT NULL,
    source TEXT NOT NULL,
    type TEXT NOT NULL,
    old TEXT,
    new TEXT NOT NULL,
    owner TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    resources TEXT NOT NULL,
    reason TEXT NOT NULL,
    details TEXT NOT NULL,
    schema INTEGER NOT NULL,
    checksum BLOB NOT NULL
);
INSERT INTO "events" VALUES(1,'job0AAAAAAAAAAAAAAAAAA',1,1793600000.25,'Scheduler','job.submitted',NULL,'Submitted','ann',0,'[]','','{"name":"first","structure":"Normal","interactive":false,"cpus":1,"description":"4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3"}',4,X'D717E8B56FD49265');
INSERT INTO "events" VALUES(2,'job0AAAAAAAAAAAAAAAAAA',2,1793600001.25,'Scheduler','job.accepted','Submitted','Waiting','ann',0,'[]','','{}',4,X'51A9DBB74E70E85F');
INSERT INTO "events" VALUES(3,'job0AAAAAAAAAAAAAAAAAA',3,1793600002.25,'Scheduler','job.matched','Waiting','Ready','ann',1,'["here:1/jobmanager-fork-all"]','','{}',4,X'483EC7D462C161C0');
INSERT INTO "events" VALUES(4,'job0AAAAAAAAAAAAAAAAAA',4,1793600003.25,'Scheduler','job.scheduled','Ready','Scheduled','ann',1,'[]','','{}',4,X'8F731AC2D4716FE6');
INSERT INTO "events" VALUES(5,'job0AAAAAAAAAAAAAAAAAA',5,1793600004.25,'Scheduler','job.running','Scheduled','Running','ann',1,'[]','','{"node":"here"}',4,X'40C99F6F5C59F45A');
INSERT INTO "events" VALUES(6,'job0AAAAAAAAAAAAAAAAAA',6,1793600005.25,'Scheduler','job.done','Running','Done','ann',1,'[]','','{"exit_code":0,"usage":{"wall_s":1.0,"cpu_s":0.5,"max_rss_bytes":52428800.0}}',4,X'5331B4BA7B3CC814');
INSERT INTO "events" VALUES(7,'job1AAAAAAAAAAAAAAAAAA',1,1793600010.25,'Scheduler','job.submitted',NULL,'Submitted','ann',0,'[]','','{"name":"café","structure":"Normal","interactive":false,"cpus":1,"description":"4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3","batch":"batch0AAAAAAAAAAAAAAAA","parameter":"7"}',4,X'8F8A557C535413D6');
INSERT INTO "events" VALUES(8,'job1AAAAAAAAAAAAAAAAAA',2,1793600011.25,'Scheduler','job.accepted','Submitted','Waiting','ann',0,'[]','','{}',4,X'5BC9C0DA5C77C594');
INSERT INTO "events" VALUES(9,'job1AAAAAAAAAAAAAAAAAA',3,1793600012.25,'Scheduler','job.matched','Waiting','Ready','ann',1,'["here:1/jobmanager-fork-all"]','','{}',4,X'346F8B30142E16F5');
INSERT INTO "events" VALUES(10,'job1AAAAAAAAAAAAAAAAAA',4,1793600013.25,'Scheduler','job.scheduled','Ready','Scheduled','ann',1,'[]','','{}',4,X'BD9E2D27839BA632');
INSERT INTO "events" VALUES(11,'job1AAAAAAAAAAAAAAAAAA',5,1793600014.25,'Scheduler','job.running','Scheduled','Running','ann',1,'[]','','{"node":"here"}',4,X'E6F7199A0F8CC648');
INSERT INTO "events" VALUES(12,'job1AAAAAAAAAAAAAAAAAA',6,1793600015.25,'Scheduler','job.done','Running','Done','ann',1,'[]','','{"exit_code":3,"error_line":"ValueError: no"}',4,X'875E9E948B9DB10A');
INSERT INTO "events" VALUES(19,'job3AAAAAAAAAAAAAAAAAA',1,1793600030.25,'Scheduler','job.submitted',NULL,'Submitted','ann',0,'[]','','{"name":"waits","structure":"Normal","interactive":false,"cpus":1,"description":"4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3","batch":"batch0AAAAAAAAAAAAAAAA","parameter":"7","rerun_of":"job1AAAAAAAAAAAAAAAAAA"}',4,X'7605698E8C903DAA');
INSERT INTO "events" VALUES(20,'job3AAAAAAAAAAAAAAAAAA',2,1793600031.25,'Scheduler','job.accepted','Submitted','Waiting','ann',0,'[]','','{}',4,X'C6ED18255DB7696F');
INSERT INTO "events" VALUES(21,'job2AAAAAAAAAAAAAAAAAA',7,1793600040.25,'Scheduler','job.purged','Done','Done','ann',0,'[]','','{}',4,X'52B6DF7790B35C72');
CREATE TABLE filesets (sha TEXT PRIMARY KEY, files TEXT NOT NULL);
INSERT INTO "filesets" VALUES('73bc3c0c3cfa0082e485631139fe9c2abfe22465baa83bf245c812c1f5dc4edc','[{"name":"data.csv","sha256":"abababababababababababababababababababababababababababababababab","size":17,"executable":false}]');
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY,
    files TEXT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    structure TEXT NOT NULL,
    interactive INTEGER NOT NULL,
    cpus INTEGER NOT NULL,
    state TEXT NOT NULL,
    description TEXT NOT NULL,
    batch TEXT NOT NULL,
    parameter TEXT NOT NULL,
    pinned TEXT NOT NULL,
    reason TEXT NOT NULL,
    held TEXT NOT NULL,
    site TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    submitted REAL NOT NULL,
    accepted REAL,
    matched REAL,
    scheduled REAL,
    started REAL,
    ended REAL,
    exit_code INTEGER,
    signal INTEGER,
    canceling REAL,
    seq INTEGER NOT NULL,
    position INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    rerun_of TEXT NOT NULL DEFAULT '',
    error_line TEXT NOT NULL DEFAULT ''
, memory INTEGER);
INSERT INTO "jobs" VALUES(1,'73bc3c0c3cfa0082e485631139fe9c2abfe22465baa83bf245c812c1f5dc4edc','job0AAAAAAAAAAAAAAAAAA','ann','first','Normal',0,1,'Done','4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3','','','','','','here:1/jobmanager-fork-all',1,1793600000.25,1793600001.25,1793600002.25,1793600003.25,1793600004.25,1793600005.25,0,NULL,NULL,6,6,4,'','',52428800);
INSERT INTO "jobs" VALUES(7,'73bc3c0c3cfa0082e485631139fe9c2abfe22465baa83bf245c812c1f5dc4edc','job1AAAAAAAAAAAAAAAAAA','ann','café','Normal',0,1,'Done','4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3','batch0AAAAAAAAAAAAAAAA','7','','','','here:1/jobmanager-fork-all',1,1793600010.25,1793600011.25,1793600012.25,1793600013.25,1793600014.25,1793600015.25,3,NULL,NULL,6,12,4,'','ValueError: no',NULL);
INSERT INTO "jobs" VALUES(19,'73bc3c0c3cfa0082e485631139fe9c2abfe22465baa83bf245c812c1f5dc4edc','job3AAAAAAAAAAAAAAAAAA','ann','waits','Normal',0,1,'Waiting','4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3','batch0AAAAAAAAAAAAAAAA','7','','','','',0,1793600030.25,1793600031.25,NULL,NULL,NULL,NULL,NULL,NULL,NULL,2,20,4,'job1AAAAAAAAAAAAAAAAAA','',NULL);
CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    schema INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    generation TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started REAL NOT NULL
);
INSERT INTO "meta" VALUES(1,7,1,'5655a6a8d8286573','desk',100,1.79544824779576706885e+09);
CREATE TABLE outside_jobs (
    site TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (site, id)
) WITHOUT ROWID;
INSERT INTO "outside_jobs" VALUES('vega','4711','{"site":"vega","id":"4711","name":"relax","state":"Running","word":"RUNNING","reason":"","queue":"main","cpus":4,"node":"","submitted":1795000000.0,"started":1795000100.0,"ended":null,"exit_code":null,"story":[]}');
CREATE TABLE purged (
    owner TEXT NOT NULL,
    structure TEXT NOT NULL,
    interactive INTEGER NOT NULL,
    month TEXT NOT NULL,
    cpus INTEGER NOT NULL,
    wait INTEGER NOT NULL,
    submitted INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    matched INTEGER NOT NULL,
    run INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    cleared INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    canceled INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, structure, interactive, month, cpus, wait)
) WITHOUT ROWID;
INSERT INTO "purged" VALUES('ann','Normal',0,'2026-11',1,5,1,1,1,1,1,0,1,0,0);
CREATE TABLE submissions (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    receipt TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (owner, key)
) WITHOUT ROWID;
INSERT INTO "submissions" VALUES('ann','key-00000000','{"ids":["job0AAAAAAAAAAAAAAAAAA"],"batch":"","warnings":[]}',1);
INSERT INTO "submissions" VALUES('ann','key-00000001','{"ids":["job1AAAAAAAAAAAAAAAAAA"],"batch":"","warnings":[]}',7);
INSERT INTO "submissions" VALUES('ann','key-00000002','{"ids":["job2AAAAAAAAAAAAAAAAAA"],"batch":"","warnings":[]}',13);
INSERT INTO "submissions" VALUES('ann','key-00000003','{"ids":["job3AAAAAAAAAAAAAAAAAA"],"batch":"","warnings":[]}',19);
CREATE TABLE sweeps (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    description TEXT NOT NULL,
    files TEXT NOT NULL,
    body TEXT NOT NULL,
    checksum BLOB NOT NULL
);
CREATE UNIQUE INDEX events_of_job ON events (job, seq);
CREATE INDEX jobs_of_owner ON jobs (owner, number);
CREATE INDEX jobs_in_state ON jobs (owner, state, number);
CREATE INDEX jobs_live ON jobs (number)
    WHERE state IN ('Submitted', 'Waiting', 'Ready', 'Scheduled', 'Running');
CREATE INDEX jobs_of_description ON jobs (description);
CREATE INDEX reruns ON jobs (rerun_of) WHERE rerun_of <> '';
CREATE INDEX jobs_of_files ON jobs (files) WHERE files <> '';
CREATE INDEX annotations_by_position ON annotations (position);
COMMIT;
