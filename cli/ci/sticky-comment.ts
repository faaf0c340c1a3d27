import { wait } from '../../shared/client/retry.ts';
import { type EarlierVerdict, renderReport } from './render-report.ts';
import type { CiReport } from './report.ts';

/** Comments of a request, as its provider keeps them. */
export interface Comments {
  /** All comments of this token's author, from all pages, the oldest first. */
  list(): Promise<readonly Comment[]>;
  create(body: string): Promise<void>;
  /** @returns false if the comment is gone */
  update(id: number, body: string): Promise<boolean>;
  remove(id: number): Promise<void>;
  /** The commit that the request has now. */
  head(): Promise<string | undefined>;
}

export interface Comment {
  id: number;
  body: string;
}

/** Attempts to agree with other checks of the same request. */
const maxAttempts = 8;

/** Longer than a provider takes for a write. */
const settleMilliseconds = 2_000;

/** Verdicts that a comment remembers. */
const maxEarlier = 20;

/**
 * Keep one comment of a report on a request. Providers have no condition for a write, so that each check looks again after
 * its own: of several comments the oldest stays, and a comment of an older commit that was written over this one is written
 * again.
 *
 * @param pause waits until a write of another check that began before would be done
 * @returns whether this report is in the comment; otherwise a later one is
 */
export async function keepComment(
  comments: Comments,
  report: CiReport,
  { run, pause = () => wait(settleMilliseconds) }: { run: string; pause?(): Promise<void> },
): Promise<boolean> {
  const own: Marker = { ...keyOf(report), commit: report.commit ?? '', time: report.time, run };
  let created = false;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const head = await comments.head();
    const found = (await comments.list()).flatMap(({ id, body }) => {
      const marker = readMarker(body);
      return marker?.project === own.project && marker.file === own.file ? [{ id, body, marker }] : [];
    });
    const [kept, ...others] = found.toSorted((a, b) => a.id - b.id);
    const latest = found.reduce<Marked | undefined>(
      (best, marked) => (best === undefined || isLater(marked.marker, best.marker, head) ? marked : best),
      undefined,
    );
    if (latest !== undefined && isLater(latest.marker, own, head)) {
      // The oldest comment is never removed: the later check may be writing to it.
      if (created)
        await removeAll(
          comments,
          others.filter(({ marker }) => marker.run === own.run),
        );
      return false;
    }
    if (kept !== undefined && others.length === 0 && isSame(kept.marker, own) && attempt > 1) return true;
    const body = bodyOf(report, own, latest);
    if (kept === undefined) {
      await comments.create(body);
      created = true;
    } else if (!isSame(kept.marker, own) && !(await comments.update(kept.id, body))) continue;
    await removeAll(comments, others);
    await pause();
  }
  return true;
}

interface Marker {
  project: string;
  file: string;
  commit: string;
  /** Epoch seconds of the commit. */
  time: number;
  /** Number of the run and of its attempt, such as `17.2`. */
  run: string;
}

interface Marked extends Comment {
  marker: Marker;
}

async function removeAll(comments: Comments, removed: readonly Comment[]): Promise<void> {
  for (const { id } of removed) await comments.remove(id);
}

/** The commit of the request comes last, then the newer commit, then the newer run. */
function isLater(a: Marker, b: Marker, head: string | undefined): boolean {
  if (a.commit !== b.commit) {
    if (a.commit === head || b.commit === head) return a.commit === head;
    if (a.time !== b.time) return a.time > b.time;
  }
  const [run = 0, attempt = 0] = a.run.split('.').map(Number);
  const [otherRun = 0, otherAttempt = 0] = b.run.split('.').map(Number);
  return run === otherRun ? attempt > otherAttempt : run > otherRun;
}

const isSame = (a: Marker, b: Marker): boolean => a.commit === b.commit && a.run === b.run;

function bodyOf(report: CiReport, own: Marker, latest: Marked | undefined): string {
  const earlier = latest === undefined ? [] : earlierOf(latest).filter(({ commit }) => commit !== own.commit);
  const kept = earlier.slice(0, maxEarlier);
  const noted = kept.map(({ commit, verdict, time }) => `${commit}:${verdict.replace(' ', '-')}:${time}`);
  const hidden = `${markerOf(own, report.verdict)}\n<!-- earlier ${noted.join(' ')} -->\n`;
  return `${hidden}${renderReport(report, kept, hidden.length)}`;
}

const encoded = (text: string): string => encodeURIComponent(text).replaceAll('-', '%2D');

const keyOf = ({ project, file }: CiReport) => ({
  project: (project ?? '').toWellFormed(),
  file: file.toWellFormed(),
});

const markerOf = ({ project, file, commit, time, run }: Marker, verdict: CiReport['verdict']): string =>
  `<!-- mps:ci project=${encoded(project)} file=${encoded(file)} commit=${commit} time=${time} run=${run} verdict=${verdict.replace(' ', '-')} -->`;

const markerPattern =
  /^<!-- mps:ci project=(\S*) file=(\S*) commit=([0-9a-f]*) time=(\d+) run=([\d.]*) verdict=(\S+) -->/;

function readMarker(body: string): (Marker & { verdict: string }) | undefined {
  const [found, project = '', file = '', commit = '', time = '', run = '', verdict = ''] =
    markerPattern.exec(body) ?? [];
  if (found === undefined) return undefined;
  try {
    const names = { project: decodeURIComponent(project), file: decodeURIComponent(file) };
    return { ...names, commit, time: Number(time), run, verdict };
  } catch {
    return undefined;
  }
}

/** Return the verdict of a comment and those that it remembers. */
function earlierOf({ body }: Comment): EarlierVerdict[] {
  const marker = readMarker(body);
  const [, noted = ''] = /^<!-- earlier (.*) -->$/m.exec(body) ?? [];
  const own = marker === undefined ? [] : [`${marker.commit}:${marker.verdict}:${marker.time}`];
  return [...own, ...noted.split(' ')].flatMap((entry) => {
    const [, commit = '', verdict = '', time = ''] =
      /^([0-9a-f]{7,64}):(passed|failed|not-compared|error):(\d{1,12})$/.exec(entry) ?? [];
    if (commit === '') return [];
    return [{ commit, verdict: verdict.replace('-', ' ') as EarlierVerdict['verdict'], time: Number(time) }];
  });
}
