import type { EnvironmentBuild } from '../environment-build.ts';
import { EnvironmentError } from '../environment-error.ts';
import { stopped } from '../installer.ts';
import { IndexRelay } from './index-relay.ts';
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

/** Installs by a relay. False where an index could not be reached through it. */
async function byRelay(
  { downloads, env, log, stop }: EnvironmentBuild,
  { indexes, upstream }: RelayPlan,
  install: (env: EnvironmentBuild['env'], isRelayed: boolean) => Promise<void>,
): Promise<boolean> {
  if (downloads === undefined) return false;
  const relay = new IndexRelay(indexes, downloads, upstream);
  try {
    await install(relayedEnvironment(env, await relay.start()), true);
    const { cached, fetched, cachedBytes } = relay.counts;
    const size = `${(cachedBytes / 1e6).toFixed(1)} MB`;
    log(`environment: ${cached} of ${cached + fetched} downloads (${size}) were in the cache`);
    return true;
  } catch (error) {
    stopped(stop);
    const isOurs = error instanceof EnvironmentError && relay.failure !== undefined;
    if (!isOurs) throw error;
    log(`environment: the cache of downloads cannot be used (${relay.failure}); installing without it`);
    return false;
  } finally {
    await relay.close();
  }
}

/**
 * Installs Python packages by `install`, which gets the environment of its installer, with downloads from the cache where
 * that is possible; `python` as `relayPlan` has it.
 * @throws EnvironmentError of the installer
 */
export async function installRelayed(
  build: EnvironmentBuild,
  python: string | undefined,
  install: (env: EnvironmentBuild['env'], isRelayed: boolean) => Promise<void>,
): Promise<void> {
  const plan = build.downloads === undefined ? null : await relayPlan(build, python);
  if (plan !== null && (await byRelay(build, plan, install))) return;
  await install(build.env, false);
}
