import type { endpoint as deleteServing } from '../../../functions/optimization/serving/delete-serving.endpoint.ts';
import type { endpoint as putServing } from '../../../functions/optimization/serving/put-serving.endpoint.ts';
import type { endpoint as putServingVersion } from '../../../functions/optimization/serving/put-serving-version.endpoint.ts';
import type { endpoint as readServing } from '../../../functions/optimization/serving/read-serving.endpoint.ts';
import type { AnswerOf } from '../../../shared/client/route.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { modelArgument } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, json, text } from '../flags.ts';

type Serving = AnswerOf<typeof readServing>;

const route = '/optimization/models/{model_name}/serving' as const;

function showServing({ printer }: CliContext, url: string, serving: Serving): void {
  const { model_name, access, default_version, versions, aliases, month, estimate, concurrency } = serving;
  printer.say(`${url}/v2/models/${model_name}  answers with ${default_version}, open to ${access}`);
  const answering = aliases[default_version] ?? default_version;
  for (const [alias, version] of Object.entries(aliases)) printer.say(`${alias} is ${version}`);
  printer.table(
    ['VERSION', 'SIZE', 'REQUESTS', 'ERRORS', 'P50', 'P95', 'COLD', 'STATE'],
    versions.map(({ version, bytes, withdrawn, counters }) => [
      version,
      bytesText(bytes),
      String(counters.requests),
      String(counters.errors),
      milliseconds(counters.p50_ms),
      milliseconds(counters.p95_ms),
      String(counters.cold_starts),
      withdrawn ?? (version === answering ? 'answers' : 'ready'),
    ]),
  );
  if (concurrency !== null) printer.say(concurrency);
  if (estimate.month !== null)
    printer.say(`US$ ${estimate.month} a month at the rate of ${month}, and nothing while nobody asks`);
}

const milliseconds = (value: number | null): string => (value === null ? '' : `${value} ms`);

export const serveCommand = command({
  brief: 'Serve a model, or the result of a strategy, at an address',
  help: `The model answers by the Open Inference Protocol, which the clients of Triton and KServe speak.

Examples:
  mps serve digits
  mps serve digits --version 01jgk9a1b3c5d7e9f1g3h5j7k9
  mps serve digits --alias champion --version 01jgk9a1b3c5d7e9f1g3h5j7k9
  mps serve digits --off`,
  args: [modelArgument],
  flags: {
    version: text('ID', 'What answers: original, the ID of a strategy, or an alias'),
    alias: text('NAME', 'Let this alias name --version; requests that come from now on follow it'),
    access: text(
      'WHO',
      'Who may ask it: viewer (every account that may read), members (its project, owner and admins) or anyone',
    ),
    show: choice('Only show how it is served'),
    off: choice('Stop serving it'),
    json,
  },
  async run(flags, model_name) {
    const { version, alias, access, show = false, off = false, json: isJson = false } = flags;
    const path = { model_name };
    const changes = [version, alias, access].some((flag) => flag !== undefined);
    if ((off || show) && (changes || (off && show)))
      throw new CliError('--off and --show take no other flags.', exitCodes.usage);
    const { client } = await connect(this.env);
    if (off) {
      const gone = await client.call<typeof deleteServing>(`DELETE ${route}`, { path });
      if (isJson) this.printer.json(gone);
      else this.printer.say(`${model_name} is no longer served.`);
      return;
    }
    const change = async (): Promise<Serving> => {
      if (show) return client.call<typeof readServing>(`GET ${route}`, { path });
      if (alias === undefined) {
        const query = { ...(version !== undefined && { version }), ...(access !== undefined && { access }) };
        // The service checks the value and names what is allowed.
        return client.call<typeof putServing>(`PUT ${route}`, { path, query: query as never });
      }
      if (version === undefined || access !== undefined)
        throw new CliError('--alias takes the version that it names: --version ID', exitCodes.usage);
      return client.call<typeof putServingVersion>(`PUT ${route}/versions/{version}`, {
        path: { ...path, version: alias },
        query: { target: version },
      });
    };
    const serving = await change();
    if (isJson) this.printer.json(serving);
    else showServing(this, client.url, serving);
  },
});
