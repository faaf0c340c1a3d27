import { expect, test } from 'vitest';
import { readPins } from '../../../../shared/runner/environment/install/pins.ts';

test('what uv has chosen is read with its hashes, those of the project before those of the index', () => {
  const text =
    'six==1.16.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\ntorch==2.1.0+cpu \\\n    --hash=sha256:cc\n';
  const own = { kind: 'package', spec: 'Six', hashes: '--hash=sha256:aa' } as const;

  expect(readPins(text, [own])).toEqual({
    pins: [
      { name: 'six', version: '1.16.0', hashes: '--hash=sha256:aa' },
      { name: 'torch', version: '2.1.0+cpu', hashes: '--hash=sha256:cc' },
    ],
    isWhole: true,
  });
});

test('files of the source and direct URLs are none of an index', () => {
  const text = './0/tiny-1.0-py3-none-any.whl \\\n    --hash=sha256:aa\nsix @ https://a.example/six.whl\n';

  expect(readPins(text, [])).toEqual({ pins: [], isWhole: false });
});
