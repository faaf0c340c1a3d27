import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { endpoint as putImport } from '../../../functions/projects/archive/put-import.endpoint.ts';
import type { endpoint as readImport } from '../../../functions/projects/archive/read-import.endpoint.ts';
import type { endpoint as requestImport } from '../../../functions/projects/archive/request-import.endpoint.ts';
import { partedBytes, sendByTicket } from '../../../shared/client/node/send-by-ticket.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { importTracker } from '../../import/import-tracker.ts';
import { isTracker, type Tracker, trackers } from '../../import/open-source.ts';
import { connect } from '../../login/connect.ts';
import { LiveLine } from '../../output/live-line.ts';
import { digestFile } from '../../upload/digest-file.ts';
import { untilInterrupted } from '../../upload/until-interrupted.ts';
import { localPath } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, json, parsed, project, repeated, text } from '../flags.ts';

export const importCommand = command({
  brief: 'Create a project from an archive, or import the runs of another tracker',
  help: `You own the new project. The archive may come from another service.

With --from, runs come with params, tags, metrics, files and status; what cannot come is listed at the end. Run it again for what is
new; it goes on after an interruption. SOURCE is, for
${Object.entries(trackers)
  .map(([name, { source }]) => `  ${name.padEnd(12)}${source}`)
  .join('\n')}

Examples:
  mps import digits.zip
  mps import --from wandb ./wandb
  mps import --from offline
  mps import --from tensorboard runs --project digits --map Loss/train=loss
  mps import --from mlflow http://127.0.0.1:5000 --dry-run`,
  args: [
    {
      ...localPath('Archive from "mps export", or with --from what another tracker has recorded'),
      optional: true,
    },
  ],
  flags: {
    from: parsed(
      trackerNamed,
      'TRACKER',
      `Import the runs of another tracker: ${Object.keys(trackers).join(', ')}`,
    ),
    project: {
      ...project,
      brief: 'With --from: put all runs into this project (default: by their own names)',
    },
    map: repeated(parseMapping, 'OLD=NEW', 'With --from: give a metric another name; may be repeated'),
    dryRun: choice('With --from: count what would come, and send nothing'),
    report: text('FILE', 'With --from: save what was brought and what was not as JSON'),
    watch: choice('With --from: go on while runs are written, until Ctrl-C'),
    json,
  },
  async run({ from, json: isJson, ...flags }, given) {
    const path = given ?? (from === 'offline' ? '.' : undefined);
    if (path === undefined) {
      const missing =
        from === undefined ? 'PATH, an archive from "mps export"' : `SOURCE, ${trackers[from].source}`;
      throw new CliError(`mps import needs ${missing}.`, exitCodes.usage);
    }
    if (from !== undefined) {
      await importTracker(this, from, path, { ...flags, json: isJson });
      return;
    }
    const others = Object.entries(flags).flatMap(([name, value]) =>
      value === undefined || name === 'verbose' ? [] : [name],
    );
    if (others.length > 0)
      throw new CliError(
        `--${others.join(', --').replace('dryRun', 'dry-run')} ${others.length > 1 ? 'need' : 'needs'} --from: an archive comes as it is.`,
        exitCodes.usage,
      );
    await importArchive.call(this, isJson, path);
  },
});

function trackerNamed(text: string): Tracker {
  if (!isTracker(text)) throw new Error(`must be one of ${Object.keys(trackers).join(', ')}`);
  return text;
}

function parseMapping(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw new Error('must be two names, such as train/loss=loss');
  return [text.slice(0, at), text.slice(at + 1)];
}

const lookMilliseconds = 2000;

async function importArchive(this: CliContext, isJson: boolean | undefined, place: string): Promise<void> {
  const { client } = await connect(this.env);
  const line = new LiveLine(this.printer);
  const work = async (signal: AbortSignal) => {
    line.set('reading…');
    const { path, size, sha256 } = await digestFile(resolve(this.folder, place), signal);
    const multipart = size >= partedBytes;
    const query = { sha256, size, ...(multipart && { multipart }) };
    const ticket = () => client.call<typeof requestImport>('POST /projects/import', { query, signal });
    const onProgress = (bytes: number) => line.set(`uploading ${bytesText(bytes)} of ${bytesText(size)}`);
    await sendByTicket(ticket, { path, size, signal, onProgress });
    let state = await client.call<typeof putImport>('PUT /projects/import', { query: { sha256 }, signal });
    while (state.status === 'RUNNING') {
      line.set(state.project_id === null ? `checked ${state.done} files` : `recorded ${state.done}`);
      await sleep(lookMilliseconds, undefined, { signal });
      state = await client.call<typeof readImport>('GET /projects/import', { query: { sha256 }, signal });
    }
    if (state.status !== 'SUCCEEDED') throw new CliError(state.status_reason ?? 'The import failed.');
    return state;
  };
  try {
    const state = await untilInterrupted(
      work,
      'Interrupted. The import continues if the upload was complete. Otherwise run the same command again.',
    );
    line.end();
    if (isJson) this.printer.json(state);
    else {
      this.printer.say(`project ${state.project_id} imported`);
      const { project_renamed: named } = state;
      if (named !== null)
        this.printer.say(
          `The project ${named.name} is called ${named.imported_as} here, because the name was taken.`,
        );
      if (state.schedules > 0)
        this.printer.say(
          `${state.schedules} ${state.schedules === 1 ? 'schedule is' : 'schedules are'} paused; "mps schedule resume ID" starts one, and it runs as you.`,
        );
      for (const { name, registered_as } of state.renamed)
        this.printer.say(
          `The registered model ${name} is called ${registered_as} here, because the name was taken.`,
        );
    }
  } finally {
    line.end();
  }
}
