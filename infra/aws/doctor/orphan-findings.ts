import { clusterClaimKey } from '../../../shared/data/jobs/cluster-claim.ts';
import { userLimitKey } from '../../../shared/data/jobs/job.ts';
import { finalRank, jobStatuses } from '../../../shared/data/jobs/job-status.ts';
import { countersKey } from '../../../shared/data/projects/project.ts';
import type { OrphanStore } from './orphan-store.ts';
import type { Finding } from './report-orphans.ts';

/** Yield all findings. */
export function* findingsOf(store: OrphanStore): Generator<Finding> {
  yield* orphanItems(store);
  for (const kind of ['set-aside', 'unreadable', 'folder'] as const) {
    for (const { location = '', why = '' } of store.rows(
      'SELECT location, why FROM finding WHERE kind = ?',
      kind,
    ))
      yield { kind, where: location, why };
  }
  yield* staleJobs(store);
  yield* orphanObjects(store);
  yield* unnamedObjects(store);
  yield* driftedCounts(store);
}

function* orphanItems(store: OrphanStore): Generator<Finding> {
  let last = '';
  for (const { pk = '', sk = '', kind = '', owner = '' } of store.rows(
    'SELECT pk, sk, item.kind, item.owner FROM item LEFT JOIN owner ON owner.kind = item.kind AND owner.id = item.owner WHERE owner.id IS NULL',
  )) {
    const where = `${pk}/${sk}`;
    if (where === last || isDoomedItem(store, pk, sk)) continue;
    last = where;
    yield { kind: 'orphan', where, why: `there is no ${kind} ${owner}` };
  }
}

/** Whether a recorded purge will remove an item. */
function isDoomedItem(store: OrphanStore, pk: string, sk: string): boolean {
  for (const { prefix = '' } of store.rows('SELECT prefix FROM doomed_part WHERE pk = ?', pk)) {
    if (sk.startsWith(prefix)) return true;
  }
  // A project's purge finds its experiments and members by their lists, and then their items.
  const [kind, id = ''] = pk.split('#');
  const isDoomed = (project: string) => store.has('SELECT 1 FROM doomed_project WHERE id = ?', project);
  if (kind === 'EXPERIMENTS' || kind === 'MEMBERS') return isDoomed(id);
  const isMembers = 'SELECT 1 FROM member WHERE project_id = ? AND user_id = ?';
  return kind === 'OWNED' && isDoomed(sk) && store.has(isMembers, sk, id);
}

const finals = jobStatuses.slice(finalRank).map((status) => `'${status}'`);

const isUnfinished = `job.status NOT IN (${finals.join(', ')})`;

function* staleJobs(store: OrphanStore): Generator<Finding> {
  for (const { pk, sk, status } of store.rows(
    `SELECT pk, sk, coalesce(job.status, '') AS status FROM unfinished LEFT JOIN job ON job.id = sk
     WHERE job.id IS NULL OR NOT ${isUnfinished}`,
  )) {
    const why = status === '' ? 'its record is gone' : `it has ended: ${status}`;
    yield { kind: 'stale', where: `${pk}/${sk}`, why };
  }
  for (const { pk, sk, status } of store.rows(
    `SELECT item.pk, item.sk, job.status FROM item JOIN job ON job.id = item.owner
     WHERE item.kind = 'job' AND item.sk = 'VARIABLES' AND NOT ${isUnfinished}`,
  ))
    yield { kind: 'stale', where: `${pk}/${sk}`, why: `its job has ended: ${status}` };
  // No worker will read these jobs again.
  for (const { id, status } of store.rows(
    `SELECT id, status FROM job WHERE ${isUnfinished} AND NOT EXISTS (SELECT 1 FROM unfinished WHERE sk = id)`,
  ))
    yield { kind: 'stale', where: `JOB#${id}`, why: `it is ${status} but not on the list` };
}

const objects = `
  FROM object
  LEFT JOIN owner AS holder ON holder.kind = object.kind AND holder.id = object.owner
  LEFT JOIN owner AS child ON child.kind = object.child_kind AND child.id = object.child`;

const isOwned = '(holder.id IS NOT NULL AND (object.child IS NULL OR child.id IS NOT NULL))';

function* orphanObjects(store: OrphanStore): Generator<Finding> {
  for (const { key = '', kind = '', owner = '', childKind, child, hasHolder } of store.rows(
    `SELECT object.key, object.kind, object.owner, object.child_kind AS childKind, object.child, holder.id IS NOT NULL AS hasHolder
     ${objects} WHERE NOT ${isOwned}`,
  )) {
    if (isDoomedObject(store, key)) continue;
    const [root] = key.split('/');
    const holder = kind === 'unknown' ? owner : `${root}/${owner}`;
    const what = hasHolder === '1' ? `${childKind} ${child}` : `owner ${holder}`;
    yield { kind: 'orphan', where: key, why: `there is no ${what}` };
  }
}

/** Whether a recorded purge will remove an object. Each of its prefixes is a folder or an object. */
function isDoomedObject(store: OrphanStore, key: string): boolean {
  if (store.has('SELECT 1 FROM doomed_prefix WHERE prefix = ?', key)) return true;
  for (let end = key.indexOf('/') + 1; end > 0; end = key.indexOf('/', end) + 1) {
    if (store.has('SELECT 1 FROM doomed_prefix WHERE prefix = ?', key.slice(0, end))) return true;
  }
  return false;
}

function* unnamedObjects(store: OrphanStore): Generator<Finding> {
  for (const { key = '' } of store.rows(
    `SELECT object.key ${objects} LEFT JOIN named ON named.key = object.key
     WHERE ${isOwned} AND named.key IS NULL AND object.kind <> 'user'`,
  )) {
    if (!isDoomedObject(store, key)) yield { kind: 'unnamed', where: key, why: 'no record refers to it' };
  }
}

/** Selects unfinished jobs that count towards the limits. Waiting jobs do not. */
const hasPlace = `${isUnfinished} AND job.waits = 0`;

/** Yield stored counts that differ from the number of counted items. */
function* driftedCounts(store: OrphanStore): Generator<Finding> {
  const drifted = (pk: string, sk: string, attribute: string, kept: string, actual: string): Finding => ({
    kind: 'count',
    where: `${pk}/${sk}`,
    why: `${attribute} is ${Number(kept)}, but there are ${Number(actual)}`,
  });
  store.run(
    `CREATE TABLE IF NOT EXISTS of_jobs (project_id TEXT PRIMARY KEY, objects INTEGER, bytes INTEGER)`,
  );
  store.run('DELETE FROM of_jobs');
  store.run(
    `INSERT INTO of_jobs SELECT project_id, sum(objects), sum(bytes) FROM stored JOIN experiment ON experiment.id = stored.owner
     WHERE stored.kind = 'job' GROUP BY project_id`,
  );
  const prefix = countersKey('').pk;
  const { sk } = countersKey('');
  for (const { id = '', attribute = '', kept = '', actual = '' } of store.rows(
    `SELECT counted.id, counted.attribute, coalesce(value, 0) AS kept, actual FROM (${counted}) AS counted
     LEFT JOIN kept ON kept.pk = ? || counted.id AND kept.sk = ? AND kept.attribute = counted.attribute
     WHERE coalesce(value, 0) <> actual`,
    prefix,
    sk,
  ))
    yield drifted(`${prefix}${id}`, sk, attribute, kept, actual);
  const user = userLimitKey('');
  for (const { id = '', kept = '', actual = '' } of store.rows(
    `SELECT id, sum(kept) AS kept, sum(actual) AS actual FROM (
       SELECT substr(sk, ?) AS id, value AS kept, 0 AS actual FROM kept WHERE pk = ? AND sk LIKE ?
       UNION ALL SELECT user_id, 0, 1 FROM job WHERE ${hasPlace}
     ) GROUP BY id HAVING sum(kept) <> sum(actual)`,
    user.sk.length + 1,
    user.pk,
    `${user.sk}%`,
  ))
    yield drifted(user.pk, `${user.sk}${id}`, 'unfinished', kept, actual);
  for (const { kept = '', actual = '' } of store.rows(
    `SELECT coalesce((SELECT value FROM kept WHERE pk = ? AND sk = ? AND attribute = 'clusters'), 0) AS kept,
       (SELECT count(*) FROM job WHERE cluster = 1 AND ${hasPlace}) AS actual`,
    clusterClaimKey.pk,
    clusterClaimKey.sk,
  ))
    if (Number(kept) !== Number(actual))
      yield drifted(clusterClaimKey.pk, clusterClaimKey.sk, 'clusters', kept, actual);
  for (const { pk = '', sk = '', kept = '', actual = '' } of store.rows(
    `SELECT free.pk, free.sk, free.value AS kept, capacity.value - coalesce(
         (SELECT sum(size) FROM job WHERE share = position.value AND ${hasPlace}), 0) AS actual
       FROM kept AS free
       JOIN kept AS capacity ON capacity.pk = free.pk AND capacity.sk = free.sk AND capacity.attribute = 'capacity'
       JOIN kept AS position ON position.pk = free.pk AND position.sk = free.sk AND position.attribute = 'index'
       WHERE free.attribute = 'free'`,
  ))
    if (Math.abs(Number(kept) - Number(actual)) > 1e-6) yield drifted(pk, sk, 'free', kept, actual);
}

/** Selects the actual counts of each project, as rows of id, attribute and number. */
const counted = `
  SELECT id, 'configs' AS attribute, coalesce(number, 0) AS actual
    FROM owner LEFT JOIN configs ON project_id = id WHERE kind = 'project'
  UNION ALL SELECT id, 'members', coalesce(number, 0)
    FROM owner LEFT JOIN (SELECT project_id, count(*) AS number FROM member GROUP BY project_id) ON project_id = id
    WHERE kind = 'project'
  UNION ALL SELECT id, 'experiments', coalesce(number, 0) FROM owner
    LEFT JOIN (SELECT project_id, count(*) AS number FROM experiment GROUP BY project_id) ON project_id = id
    WHERE kind = 'project'
  UNION ALL SELECT id, 'unfinished', coalesce(number, 0) FROM owner
    LEFT JOIN (SELECT project_id, count(*) AS number FROM job WHERE ${isUnfinished} GROUP BY project_id)
    ON project_id = id WHERE kind = 'project'
  UNION ALL SELECT owner.id, 'objects', coalesce(own.objects, 0) + coalesce(jobs.objects, 0) FROM owner
    LEFT JOIN stored AS own ON own.kind = 'project' AND own.owner = owner.id
    LEFT JOIN of_jobs AS jobs ON jobs.project_id = owner.id WHERE owner.kind = 'project'
  UNION ALL SELECT owner.id, 'bytes', coalesce(own.bytes, 0) + coalesce(jobs.bytes, 0) FROM owner
    LEFT JOIN stored AS own ON own.kind = 'project' AND own.owner = owner.id
    LEFT JOIN of_jobs AS jobs ON jobs.project_id = owner.id WHERE owner.kind = 'project'`;
