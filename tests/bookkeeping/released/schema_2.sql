BEGIN TRANSACTION;
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
INSERT INTO "events" VALUES(1,'job0AAAAAAAAAAAAAAAAAA',1,1793600000.25,'Scheduler','job.submitted',NULL,'Submitted','ann',0,'[]','','{"name":"first","structure":"Normal","interactive":false,"cpus":1,"description":"4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3"}',1,X'E5E3F733D5840EF1');
INSERT INTO "events" VALUES(2,'job0AAAAAAAAAAAAAAAAAA',2,1793600001.25,'Scheduler','job.accepted','Submitted','Waiting','ann',0,'[]','','{}',1,X'B89E10B74221CD9B');
INSERT INTO "events" VALUES(3,'job0AAAAAAAAAAAAAAAAAA',3,1793600002.25,'Scheduler','job.matched','Waiting','Ready','ann',1,'["here:1/jobmanager-fork-all"]','','{}',1,X'C5D7658C52C125E8');
INSERT INTO "events" VALUES(4,'job0AAAAAAAAAAAAAAAAAA',4,1793600003.25,'Scheduler','job.scheduled','Ready','Scheduled','ann',1,'[]','','{}',1,X'4DA9CD26FDC09BDA');
INSERT INTO "events" VALUES(5,'job0AAAAAAAAAAAAAAAAAA',5,1793600004.25,'Scheduler','job.running','Scheduled','Running','ann',1,'[]','','{"node":"here"}',1,X'DE925F6D3C407078');
INSERT INTO "events" VALUES(6,'job0AAAAAAAAAAAAAAAAAA',6,1793600005.25,'Scheduler','job.done','Running','Done','ann',1,'[]','','{"exit_code":0}',1,X'EE7E42D0ACAAEDEF');
INSERT INTO "events" VALUES(7,'job1AAAAAAAAAAAAAAAAAA',1,1793600010.25,'Scheduler','job.submitted',NULL,'Submitted','ann',0,'[]','','{"name":"café","structure":"Normal","interactive":false,"cpus":1,"description":"4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3","parameter":"1"}',1,X'CC45D0B4035F1FB2');
INSERT INTO "events" VALUES(8,'job1AAAAAAAAAAAAAAAAAA',2,1793600011.25,'Scheduler','job.accepted','Submitted','Waiting','ann',0,'[]','','{}',1,X'A97146DC4D1CA941');
INSERT INTO "events" VALUES(9,'job1AAAAAAAAAAAAAAAAAA',3,1793600012.25,'Scheduler','job.matched','Waiting','Ready','ann',1,'["here:1/jobmanager-fork-all"]','','{}',1,X'8729CD0E7C7EEADC');
INSERT INTO "events" VALUES(10,'job1AAAAAAAAAAAAAAAAAA',4,1793600013.25,'Scheduler','job.scheduled','Ready','Scheduled','ann',1,'[]','','{}',1,X'5D7F197F92906C54');
INSERT INTO "events" VALUES(11,'job1AAAAAAAAAAAAAAAAAA',5,1793600014.25,'Scheduler','job.running','Scheduled','Running','ann',1,'[]','','{"node":"here"}',1,X'5588B81E26E97642');
INSERT INTO "events" VALUES(12,'job1AAAAAAAAAAAAAAAAAA',6,1793600015.25,'Scheduler','job.done','Running','Done','ann',1,'[]','','{"exit_code":0}',1,X'55199D6678D56C4B');
INSERT INTO "events" VALUES(13,'job2AAAAAAAAAAAAAAAAAA',1,1793600020.25,'Scheduler','job.submitted',NULL,'Submitted','ann',0,'[]','','{"name":"gone","structure":"Normal","interactive":false,"cpus":1,"description":"4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3"}',1,X'53A2FCD6A846329E');
INSERT INTO "events" VALUES(14,'job2AAAAAAAAAAAAAAAAAA',2,1793600021.25,'Scheduler','job.accepted','Submitted','Waiting','ann',0,'[]','','{}',1,X'8D99377671026D1F');
INSERT INTO "events" VALUES(15,'job2AAAAAAAAAAAAAAAAAA',3,1793600022.25,'Scheduler','job.matched','Waiting','Ready','ann',1,'["here:1/jobmanager-fork-all"]','','{}',1,X'256004EE6E775845');
INSERT INTO "events" VALUES(16,'job2AAAAAAAAAAAAAAAAAA',4,1793600023.25,'Scheduler','job.scheduled','Ready','Scheduled','ann',1,'[]','','{}',1,X'DF59E6D4E757F645');
INSERT INTO "events" VALUES(17,'job2AAAAAAAAAAAAAAAAAA',5,1793600024.25,'Scheduler','job.running','Scheduled','Running','ann',1,'[]','','{"node":"here"}',1,X'4E8655D3E4DF978C');
INSERT INTO "events" VALUES(18,'job2AAAAAAAAAAAAAAAAAA',6,1793600025.25,'Scheduler','job.done','Running','Done','ann',1,'[]','','{"exit_code":0}',1,X'563103AC4A60A45C');
INSERT INTO "events" VALUES(19,'job3AAAAAAAAAAAAAAAAAA',1,1793600030.25,'Scheduler','job.submitted',NULL,'Submitted','ann',0,'[]','','{"name":"waits","structure":"Normal","interactive":false,"cpus":1,"description":"4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3"}',1,X'0156370E3D04D62F');
INSERT INTO "events" VALUES(20,'job3AAAAAAAAAAAAAAAAAA',2,1793600031.25,'Scheduler','job.accepted','Submitted','Waiting','ann',0,'[]','','{}',1,X'63E5903296DBD8F0');
INSERT INTO "events" VALUES(21,'job2AAAAAAAAAAAAAAAAAA',7,1793600099.25,'Scheduler','job.purged','Done','Done','ann',0,'[]','','{}',1,X'CD8B031253FAABF4');
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
    schema INTEGER NOT NULL
);
INSERT INTO "jobs" VALUES(1,'73bc3c0c3cfa0082e485631139fe9c2abfe22465baa83bf245c812c1f5dc4edc','job0AAAAAAAAAAAAAAAAAA','ann','first','Normal',0,1,'Done','4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3','','','','','','here:1/jobmanager-fork-all',1,1793600000.25,1793600001.25,1793600002.25,1793600003.25,1793600004.25,1793600005.25,0,NULL,NULL,6,6,1);
INSERT INTO "jobs" VALUES(7,'73bc3c0c3cfa0082e485631139fe9c2abfe22465baa83bf245c812c1f5dc4edc','job1AAAAAAAAAAAAAAAAAA','ann','café','Normal',0,1,'Done','4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3','','1','','','','here:1/jobmanager-fork-all',1,1793600010.25,1793600011.25,1793600012.25,1793600013.25,1793600014.25,1793600015.25,0,NULL,NULL,6,12,1);
INSERT INTO "jobs" VALUES(19,'73bc3c0c3cfa0082e485631139fe9c2abfe22465baa83bf245c812c1f5dc4edc','job3AAAAAAAAAAAAAAAAAA','ann','waits','Normal',0,1,'Waiting','4abef19bf4ab3973f04b7645fbf2555d5a43841290986fd805bf9f48a1184fc3','','','','','','',0,1793600030.25,1793600031.25,NULL,NULL,NULL,NULL,NULL,NULL,NULL,2,20,1);
CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    schema INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    generation TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started REAL NOT NULL
);
INSERT INTO "meta" VALUES(1,2,1,'29ffacdda356e6b9','desk',100,1.79520841986094760889e+09);
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
    PRIMARY KEY (owner, structure, interactive, month, cpus, wait)
) WITHOUT ROWID;
INSERT INTO "purged" VALUES('ann','Normal',0,'2026-11',1,5,1,1,1,1,1,0);
CREATE TABLE submissions (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    receipt TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (owner, key)
) WITHOUT ROWID;
INSERT INTO "submissions" VALUES('ann','key-00000','{"ids":["job0AAAAAAAAAAAAAAAAAA"],"batch":"","warnings":[]}',1);
INSERT INTO "submissions" VALUES('ann','key-00001','{"ids":["job1AAAAAAAAAAAAAAAAAA"],"batch":"","warnings":[]}',7);
INSERT INTO "submissions" VALUES('ann','key-00002','{"ids":["job2AAAAAAAAAAAAAAAAAA"],"batch":"","warnings":[]}',13);
INSERT INTO "submissions" VALUES('ann','key-00003','{"ids":["job3AAAAAAAAAAAAAAAAAA"],"batch":"","warnings":[]}',19);
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
CREATE INDEX jobs_of_files ON jobs (files) WHERE files <> '';
COMMIT;
