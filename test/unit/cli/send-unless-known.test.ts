import { expect, test } from 'vitest';
import { sendUnlessKnown, type Upload } from '../../../cli/upload/send-unless-known.ts';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { UnreachableError } from '../../../shared/client/unreachable-error.ts';

const file = { path: 'digits.tar', size: 3, sha256: 'a'.repeat(64) };
const sending = { signal: new AbortController().signal, onProgress: () => {} };
const refused = () => new UnreachableError('http://127.0.0.1:3000', new Error('connect ECONNREFUSED'));

/** An upload of which storage already has every byte, and which no version of the service names. */
const upload = (accept: Upload<string>['accept']): Upload<string> => ({
  current: async () => {
    throw new ProblemError(404, {}, 'There is no data set digits.');
  },
  ticket: async () => ({ upload: null, parts: null }),
  accept,
});

test('a service that restarts after the last byte is waited for', async () => {
  let asked = 0;
  const accept = async () => {
    asked += 1;
    if (asked <= 2) throw refused();
    return 'accepted';
  };

  const sent = await sendUnlessKnown(upload(accept), file, sending);

  expect(sent).toEqual({ isSent: true, accepted: 'accepted' });
});

test('Ctrl-C ends the wait for a service that does not come back', async () => {
  const pressed = new AbortController();
  const accept = async () => {
    pressed.abort(new Error('Ctrl-C'));
    throw refused();
  };

  const sent = sendUnlessKnown(upload(accept), file, { ...sending, signal: pressed.signal });

  await expect(sent).rejects.toThrow('Ctrl-C');
});
