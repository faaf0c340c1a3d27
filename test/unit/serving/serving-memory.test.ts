import { expect, test } from 'vitest';
import { versionMemory } from '../../../shared/data/models/serving-memory.ts';
import type { TextSettings } from '../../../shared/data/models/text-settings.ts';

test('a version that reads long texts is given the memory of their attention', () => {
  const file = { name: 'tokenizer.json', size: 0 };
  const memory = (max_tokens: number) =>
    versionMemory({
      bytes: 0,
      files: [file] as Parameters<typeof versionMemory>[0]['files'],
      texts: { max_tokens } as TextSettings,
      images: null,
    });

  // What models of 16 heads took of it.
  expect(memory(2_048) - memory(0)).toBeGreaterThan(1_677);
  expect(memory(512) - memory(0)).toBeLessThan(128);
});
