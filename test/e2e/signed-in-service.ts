import { expect } from 'vitest';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { startMps } from '../support/mps.ts';

const password = 'correct horse battery';

/** Starts the service with its data in a folder, and signs its admin in with `mps`, which keeps the login in `home`. */
export async function signedInService(data: string, home: string): Promise<LocalService> {
  const service = await startLocalService(['--data', data], { ADMIN_PASSWORD: password });
  if (!('url' in service)) throw new Error(service.output);
  const login = ['login', service.url, '--user', 'admin'];
  const signedIn = startMps(login, { folder: home, home, input: `${password}\n` });
  expect(await signedIn.ended).toMatchObject({ code: 0 });
  return service;
}
