import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildCommand } from '@stricli/core';
import type { endpoint as putImport } from '../../../functions/projects/archive/put-import.endpoint.ts';
import type { endpoint as readImport } from '../../../functions/projects/archive/read-import.endpoint.ts';
import type { endpoint as requestImport } from '../../../functions/projects/archive/request-import.endpoint.ts';
import { partedBytes, sendByTicket } from '../../../shared/client/node/send-by-ticket.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { CliError } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { LiveLine } from '../../output/live-line.ts';
import { digestFile } from '../../upload/digest-file.ts';
import { untilInterrupted } from '../../upload/until-interrupted.ts';
import { localPath } from '../arguments.ts';
import { json, verbose } from '../flags.ts';

export const importCommand = buildCommand({
  func: importOne,
  parameters: {
    positional: { kind: 'tuple', parameters: [localPath('Archive from "mps export"')] },
    flags: { json, verbose },
  },
  docs: {
    brief: 'Create a project from an archive',
    fullDescription:
      'You own the new project. The archive may come from another service.\n\nExample:\n  mps import digits.zip',
  },
});

const lookMilliseconds = 2000;

async function importOne(this: CliContext, { json: isJson }: Flags, place: string): Promise<void> {
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
      for (const { name, registered_as } of state.renamed)
        this.printer.say(
          `The registered model ${name} is called ${registered_as} here, because the name was taken.`,
        );
    }
  } finally {
    line.end();
  }
}

interface Flags {
  json?: boolean;
  verbose?: boolean;
}
