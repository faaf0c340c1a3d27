import { appendFile, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorText } from '../../shared/core/error-text.ts';
import { CliError, exitCodeOf, exitCodes, errorText as told } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { projectName } from '../projects/find-project.ts';
import { type Checked, checkModel } from './check-model.ts';
import { checkRuns, FailedTrainingError } from './check-runs.ts';
import { type CiPlan, isOfRuns, readCiFile } from './ci-file.ts';
import { type History, readHistory } from './history.ts';
import type { CiJob } from './provider/ci-job.ts';
import { findCiJob } from './provider/find-ci-job.ts';
import { requestOfRun } from './provider/github.ts';
import { ProviderError } from './provider/provider-api.ts';
import { renderReport } from './render-report.ts';
import { CiReport, ciNotes, exitCodeOfReport, verdictOf } from './report.ts';
import { keepComment } from './sticky-comment.ts';
import { writeNew } from './write-new.ts';

export interface CheckFlags {
  comment: 'auto' | 'always' | 'never';
  dryRun?: boolean;
  json?: boolean;
  verbose?: boolean;
}

/** Check this folder by a file of gates, and tell the request about it. */
export async function check(context: CliContext, flags: CheckFlags, path: string): Promise<void> {
  const { env, folder, printer, process } = context;
  const plan = await readCiFile(folder, path);
  const job = await findCiJob(env);
  const against = plan.against ?? job.against ?? 'main';
  const history = await readHistory(folder, against, {
    shown: job.shown,
    isCi: job.provider !== undefined,
  });
  if (flags.dryRun) {
    for (const line of dryRunLines(plan, job, { ...history, against })) process.stdout.write(`${line}\n`);
    return;
  }
  const { report, exitCode } = await reportOf(context, plan, history);
  await tell(context, flags, { report, job });
  if (flags.json) printer.json(report);
  process.exitCode = exitCode;
}

/**
 * Comment with the report of a run that could not, because it was a fork's. The report is a stranger's: it is read by its
 * schema and rendered anew.
 */
export async function commentLater({ env, folder, printer }: CliContext, path: string): Promise<void> {
  const { comments, sha, run } = await requestOfRun(env);
  const at = resolve(folder, path);
  const read = async () => ((await stat(at)).size > maxReport ? '' : readFile(at, 'utf8'));
  const text = await read().catch((error) => {
    throw new CliError(`${path}: ${errorText(error)}`, exitCodes.usage);
  });
  const refused = (why: string) => new CliError(`${path} is no report of "mps ci": ${why}`, exitCodes.usage);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refused('no JSON of at most 4 MB');
  }
  const report = CiReport.safeParse(value);
  if (!report.success)
    throw refused(
      report.error.issues
        .slice(0, 5)
        .map((issue) => issue.path.join('.') || 'no object')
        .join(', '),
    );
  if (report.data.commit !== sha) throw refused(`it is of another commit than ${sha.slice(0, 10)}`);
  const { head, base, time } = report.data;
  // Nobody follows a stranger's link because this repository shows it.
  const unlinked = {
    ...{ head: { ...head, link: null }, base: base && { ...base, link: null } },
    time: Math.min(time, Math.floor(Date.now() / 1000)),
  };
  const isKept = await keepComment(comments, { ...report.data, ...unlinked }, { run });
  printer.say(isKept ? 'Commented.' : 'The comment is of a later commit.');
}

const maxReport = 4_000_000;

function dryRunLines(
  { gates, model, run, experiment, compress }: CiPlan,
  { provider, request, lacking }: CiJob,
  { commit, ancestors, why, against }: History & { against: string },
): string[] {
  const subject = run === undefined ? (experiment ?? model) : (run.command ?? 'the usual program');
  const [base] = ancestors;
  return [
    `checks      ${subject}`,
    `commit      ${commit ?? 'none'}`,
    ...(compress === undefined
      ? []
      : [
          `compresses  ${model}, by ${[compress.strategy, ...compress.flags].join(' ')}; the base of its gates`,
        ]),
    `base        ${base === undefined ? `none: ${why}` : `${base.slice(0, 10)} or before, of ${against}`}`,
    ...gates.map(({ text }) => `gate        ${text}`),
    `comment     ${request === undefined ? 'none' : `on ${provider} request ${request}`}${lacking === undefined ? '' : `: ${lacking}`}`,
  ];
}

/** Make the check. What fails in it is a report too, so that the request learns of it. */
async function reportOf(
  context: CliContext,
  plan: CiPlan,
  history: History,
): Promise<{ report: CiReport; exitCode: number }> {
  const { commit, time } = history;
  const about = {
    ...{
      report_version: 1 as const,
      file: plan.path,
      project: isOfRuns(plan) ? (plan.project ?? (await projectName(context.folder))) : null,
    },
    ...{ commit: commit ?? null, time },
  };
  try {
    const checked: Checked = await (isOfRuns(plan) ? checkRuns : checkModel)(context, plan, history);
    const notes = ciNotes(checked.notes);
    const report: CiReport = { ...about, ...checked, notes, verdict: verdictOf(checked.gates) };
    return { report, exitCode: exitCodeOfReport(report, plan.without_base) };
  } catch (error) {
    // 4 is a gate that fails.
    const failed = exitCodeOf(error);
    const exitCode = failed === exitCodes.notSignedIn ? exitCodes.failure : failed;
    if (exitCode === exitCodes.usage || exitCode === exitCodes.interrupted) throw error;
    const notes = ciNotes(told(error, false).split('\n').slice(0, 20));
    context.printer.say(notes.join('\n'));
    const head = error instanceof FailedTrainingError ? error.head : { name: 'the head', link: null };
    const none = { base: null, gates: [], values: [], curves: [] };
    return { report: { ...about, head, ...none, notes, verdict: 'error' }, exitCode };
  }
}

/** Print the report, and write it to the summary of the job, to the request, and to files. */
async function tell(
  { folder, printer }: CliContext,
  { comment, json }: CheckFlags,
  { report, job }: { report: CiReport; job: CiJob },
): Promise<void> {
  for (const { gate, verdict, measured, allowed, note } of report.gates) {
    const detail = [measured, allowed === '' ? '' : `allowed: ${allowed}`, note ?? ''].filter(
      (part) => part !== '',
    );
    const line = `${verdict.toUpperCase()}  ${gate}${detail.length === 0 ? '' : `: ${detail.join(', ')}`}`;
    if (json) printer.say(line);
    else printer.line(line);
  }
  if (report.verdict === 'not compared')
    printer.say('NOT COMPARED: there is no base. Gates that need one are not judged.');
  for (const note of report.verdict === 'error' ? [] : report.notes) printer.say(note);
  const markdown = `${renderReport(report)}\n`;
  await writeNew(join(folder, 'mps-ci.md'), markdown);
  await writeNew(join(folder, 'mps-ci.json'), `${JSON.stringify(report, null, 2)}\n`);
  if (job.summary !== undefined)
    await appendFile(job.summary, markdown).catch((error) => printer.say(`No summary: ${errorText(error)}`));
  if (comment === 'never') return;
  const fault = await commentFault(report, job);
  if (fault === undefined) return;
  if (comment === 'always') throw new CliError(`No comment was written: ${fault}`);
  printer.say(`No comment was written: ${fault}`);
}

/** Comment on the request. @returns why that was not possible */
async function commentFault(report: CiReport, job: CiJob): Promise<string | undefined> {
  const { comments, request, run, lacking, provider, isFork } = job;
  if (comments === undefined || isFork)
    return (
      lacking ??
      (request === undefined ? 'this is no pull or merge request. mps-ci.md has the report.' : 'no token')
    );
  try {
    await keepComment(comments, report, { run });
    return undefined;
  } catch (error) {
    const isRefused = error instanceof ProviderError && (error.status === 403 || error.status === 401);
    const advice =
      isRefused && provider === 'github' ? ' Give the job "permissions: { pull-requests: write }".' : '';
    return `${errorText(error)}.${advice}`;
  }
}
