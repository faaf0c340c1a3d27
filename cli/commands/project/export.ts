import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { endpoint as downloadExport } from '../../../functions/projects/archive/download-export.endpoint.ts';
import type { endpoint as exportProject } from '../../../functions/projects/archive/export-project.endpoint.ts';
import type { endpoint as readExport } from '../../../functions/projects/archive/read-export.endpoint.ts';
import { saveDownload } from '../../../shared/client/node/save-download.ts';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { CliError } from '../../cli-error.ts';
import { LiveLine } from '../../output/live-line.ts';
import { refuseReplacing } from '../../output/save-text.ts';
import { projectSession } from '../../projects/project-session.ts';
import { untilInterrupted } from '../../upload/until-interrupted.ts';
import { command } from '../command.ts';
import { force, json, project, text } from '../flags.ts';

export const exportCommand = command({
  brief: 'Save a project as one archive',
  help: 'The archive contains all experiments and their files, reports and schedules, for a backup or another service. It does not contain links and the values of secrets.\n\nExamples:\n  mps export\n  mps export -p digits --to digits.zip',
  flags: { to: text('FILE', 'File to save in (default: project.zip)'), force, project, json },
  async run({ to = 'project.zip', force: isForced, project: given, json: isJson }) {
    const place = resolve(this.folder, to);
    await refuseReplacing([place], { force: isForced, undone: 'nothing was exported' });
    const { client, path } = await projectSession(this, given);
    const route = '/projects/{project_id}/export';
    const line = new LiveLine(this.printer);
    const work = async (signal: AbortSignal) => {
      const look = () => client.call<typeof readExport>(`GET ${route}`, { path, signal });
      let state = await client
        .call<typeof exportProject>(`POST ${route}`, { path, signal })
        .catch((error: unknown) => {
          // A 409 means that an export is already running. Use that one.
          if (error instanceof ProblemError && error.status === 409) return look();
          throw error;
        });
      while (state.status === 'RUNNING') {
        line.set(`packing, ${state.files} files so far`);
        await sleep(lookMilliseconds, undefined, { signal });
        state = await look();
      }
      if (state.status === 'FAILED') throw new CliError(state.status_reason ?? 'The export failed.');
      const { bytes } = state;
      const onProgress = (received: number) => line.set(`${bytesText(received)} of ${bytesText(bytes)}`);
      const saving = { path: place, size: bytes, sha256: null, onProgress, signal };
      await saveDownload<typeof downloadExport>(client, `GET ${route}/file`, { path }, saving);
      return state;
    };
    try {
      const state = await untilInterrupted(work, 'Interrupted; run the same command again to continue.');
      line.end();
      if (isJson) return this.printer.json({ ...state, saved: place });
      this.printer.say(`${place}  ${bytesText(state.bytes)}, ${state.files} files`);
      if (state.secrets.length > 0)
        this.printer.say(`Skipped the values of the secrets ${state.secrets.join(', ')}.`);
      if (state.left_out > 0)
        this.printer.say(`Skipped ${state.left_out} experiments that are unfinished or deleted.`);
      if (state.members > 0)
        this.printer.say(`Skipped ${state.members} members, because their accounts belong to this service.`);
      if (state.links > 0)
        this.printer.say(`Skipped ${state.links} links, because their addresses belong to this service.`);
    } finally {
      line.end();
    }
  },
});

const lookMilliseconds = 2000;
