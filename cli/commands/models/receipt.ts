import type { endpoint as listPrunings } from '../../../functions/optimization/compressions/prune/list-prune-strategies.endpoint.ts';
import type { endpoint as readPrune } from '../../../functions/optimization/compressions/prune/read-prune-strategy.endpoint.ts';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { connect, type Session } from '../../login/connect.ts';
import { saveText } from '../../output/save-text.ts';
import { command } from '../command.ts';
import { force, gate, json, text } from '../flags.ts';
import {
  type Compression,
  followCompression,
  type Operation,
  readCompression,
} from './follow-compression.ts';
import { saveResult } from './save-result.ts';
import { showCompression } from './show-compression.ts';

interface Found {
  operation: Operation;
  compression: Compression;
}

const operations = ['prune', 'quantize'] as const;
/** Maximum number of newest compressions of each operation to search for the end of an ID. */
const maxNewest = 100;

/** Find a compression, whichever it is. */
export async function byId(
  { client }: Pick<Session, 'client'>,
  strategy_id: string,
): Promise<Found | undefined> {
  for (const operation of operations) {
    try {
      return { operation, compression: await readCompression(client, operation, strategy_id) };
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 404) throw error;
    }
  }
  return undefined;
}

/** Find the compression whose ID ends with this text. Find the newest one for an empty text. */
async function newest(session: Session, ending: string): Promise<Found | undefined> {
  const ids: string[] = [];
  for (const operation of operations) {
    const route = `GET /optimization/${operation}/strategies` as const;
    const query = { limit: ending === '' ? 1 : maxNewest };
    const { rows } = await session.client.page<typeof listPrunings>(route, { query });
    ids.push(...rows.map(({ strategy_id }) => strategy_id).filter((id) => id.endsWith(ending)));
  }
  // IDs sort by time.
  const found = ids.sort();
  if (ending !== '' && found.length > 1) {
    const all = found.map((id) => `  ${id}`).join('\n');
    throw new CliError(`Several strategies end in ${ending}:\n${all}`, exitCodes.usage);
  }
  const last = found.at(-1);
  return last === undefined ? undefined : byId(session, last);
}

const file = (brief: string) => text('FILE', brief);

export const receiptCommand = command({
  brief: 'Show the receipt of a pruning or quantization',
  help: 'A running job is followed until it ends.\n\nExamples:\n  mps receipt\n  mps receipt 4k8f --svg receipt.svg --to small.onnx',
  args: [
    {
      brief: 'ID of the pruning or quantization, the end of its ID, or latest (default)',
      placeholder: 'ID',
      parse: String,
      optional: true,
    },
  ],
  flags: {
    svg: file('Save the receipt as an SVG image'),
    to: file('Save the result as this file'),
    force,
    gate,
    json,
  },
  async run({ svg, to, force: isForced, json: isJson, gate: isGated }, id = 'latest') {
    const session = await connect(this.env);
    const found = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(id)
      ? await byId(session, id)
      : await newest(session, id === 'latest' ? '' : id);
    if (found === undefined)
      throw new CliError(
        id === 'latest'
          ? 'Nothing was pruned or quantized yet.'
          : `There is no pruning or quantization ${id}.`,
      );
    const { operation } = found;
    const { strategy_id } = found.compression;
    const compression = await followCompression(session.client, operation, strategy_id, this.printer);
    showCompression(this, compression, { ...(isJson && { json: true }), ...(isGated && { gate: true }) });
    if (svg !== undefined) {
      const route = `GET /optimization/${operation}/strategies/{strategy_id}` as const;
      const page = await session.client.text<typeof readPrune>(route, 'image/svg+xml', {
        path: { strategy_id },
      });
      await saveText(this, { to: svg, force: isForced }, page);
    }
    if (to !== undefined) await saveResult(this, session, { operation, compression, to, force: isForced });
  },
});
