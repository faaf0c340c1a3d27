import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bundleCommand } from '../../../functions/service/build-command.ts';

test('the command holds the messages of its library in the language that it speaks alone', async () => {
  const { code } = await bundleCommand(fileURLToPath(new URL('../../..', import.meta.url)));

  const text = new TextDecoder().decode(code);
  expect(text).toContain('Invalid input');
  // German and French.
  expect(text).not.toMatch(/Ung(?:\\xFC|ü)ltige Eingabe|Entr(?:\\xE9|é)e invalide/);
});
