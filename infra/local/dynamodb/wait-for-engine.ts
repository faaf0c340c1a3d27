import { get } from 'node:http';

/** Where an engine listens: a port of the loopback address or another one, or a Unix socket. */
export type EngineAddress = { host: string; port: number } | { socketPath: string };

const tries = 500;
const pauseMs = 10;

/** With node's own client, because the one behind fetch takes 16 MB. */
function answersOnce(address: EngineAddress): Promise<boolean> {
  return new Promise((resolve) => {
    get({ ...address, path: '/', agent: false }, (response) => {
      response.resume();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

/** Wait some seconds for an engine to respond. Return false when it does not, or when `isGone` reports its end. */
export async function waitForEngine(address: EngineAddress, isGone: () => boolean): Promise<boolean> {
  for (let attempt = 0; attempt < tries && !isGone(); attempt += 1) {
    if (await answersOnce(address)) return true;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return false;
}
