import { EnvironmentError } from '../environment-error.ts';
import type { EnvironmentBuild } from '../install/builder-input.ts';
import { stopped } from '../install/installer.ts';
import { IndexRelay, type RelayRecord } from './index-relay.ts';
import { type RelayPlan, relayPlan } from './relay-plan.ts';

const loopback = '127.0.0.1';

/** The environment of an installer that asks the relay. */
function relayedEnvironment(
  env: EnvironmentBuild['env'],
  [index = '', ...extra]: readonly string[],
): Record<string, string> {
  const { UV_INDEX_URL: _, ...others } = env;
  const direct = [env['NO_PROXY'] ?? env['no_proxy'], loopback].filter(Boolean).join(',');
  const further = extra.join(' ');
  return {
    ...others,
    PIP_INDEX_URL: index,
    UV_DEFAULT_INDEX: index,
    ...(further !== '' && { PIP_EXTRA_INDEX_URL: further, UV_EXTRA_INDEX_URL: further }),
    NO_PROXY: direct,
    no_proxy: direct,
  };
}

/** Installs by a relay. Null where an index could not be reached through it. */
async function byRelay(
  { downloads, env, log, stop }: EnvironmentBuild,
  { indexes, upstream }: RelayPlan,
  install: (env: EnvironmentBuild['env'], isRelayed: boolean) => Promise<void>,
): Promise<RelayRecord | null> {
  if (downloads === undefined) return null;
  const relay = new IndexRelay(indexes, downloads, upstream);
  try {
    await install(relayedEnvironment(env, await relay.start()), true);
    const { cached, fetched, cachedBytes } = relay.counts;
    const size = `${(cachedBytes / 1e6).toFixed(1)} MB`;
    const all = cached + fetched;
    if (all > 0) log(`environment: ${cached} of ${all} downloads (${size}) were in the cache`);
    return relay.record;
  } catch (error) {
    stopped(stop);
    const isOurs = error instanceof EnvironmentError && relay.failure !== undefined;
    if (!isOurs) throw error;
    log(`environment: the cache of downloads cannot be used (${relay.failure}); installing without it`);
    return null;
  } finally {
    await relay.close();
  }
}

/**
 * Installs Python packages by `install`, which gets the environment of its installer, with downloads from the cache where
 * that is possible; `python` as `relayPlan` has it. Returns what the relay handed over; null where there was none.
 * @throws EnvironmentError of the installer
 */
export async function installRelayed(
  build: EnvironmentBuild,
  python: string | undefined,
  install: (env: EnvironmentBuild['env'], isRelayed: boolean) => Promise<void>,
): Promise<RelayRecord | null> {
  const plan = build.downloads === undefined ? null : await relayPlan(build, python);
  const relayed = plan === null ? null : await byRelay(build, plan, install);
  if (relayed === null) await install(build.env, false);
  return relayed;
}
