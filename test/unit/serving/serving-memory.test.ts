import { expect, test } from 'vitest';
import type { ImageSettings } from '../../../shared/data/models/image-settings.ts';
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

test('a version is given the memory of the pictures that it reads, the largest if it states no size', () => {
  const memory = (sizes: Pick<ImageSettings, 'crop' | 'resize'>) =>
    versionMemory({ bytes: 0, files: [], texts: null, images: { ...sizes } as ImageSettings });
  const side = (pixels: number) => ({ height: pixels, width: pixels });

  expect(memory({ crop: null, resize: null })).toBe(memory({ crop: null, resize: side(1_024) }));
  expect(memory({ crop: null, resize: side(1_024) })).toBe(memory({ crop: side(224), resize: null }) + 243);
});
