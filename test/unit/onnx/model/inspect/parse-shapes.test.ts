import { describe, expect, test } from 'vitest';
import { parseShapes } from '../../../../../shared/onnx/model/inspect/match-shapes.ts';
import { ModelError } from '../../../../../shared/onnx/model/model-error.ts';

const bare = (...dims: (number | null)[]) => dims.map((dim) => ({ dims: [dim], bare: true }));
const shape = (...dims: (number | null)[]) => ({ dims, bare: false });

describe('shapes', () => {
  test.each([
    ['', []],
    ['  ', []],
    ['1x3x224x224', [shape(1, 3, 224, 224)]],
    ['1X3', [shape(1, 3)]],
    [' 1 x 3 ', [shape(1, 3)]],
    ['[1,3,224,224]', [shape(1, 3, 224, 224)]],
    ['(1, 3, 224, 224)', [shape(1, 3, 224, 224)]],
    ['[]', [shape()]],
    ['()', [shape()]],
    ['[ ]', [shape()]],
    ['[?,-1,N,4]', [shape(null, null, null, 4)]],
    ['?x3', [shape(null, 3)]],
    ['-1x3', [shape(null, 3)]],
    ['Nx3', [shape(null, 3)]],
    ['[7]', [shape(7)]],
    ['7', bare(7)],
    ['1,3,224,224', bare(1, 3, 224, 224)],
    ['N,3', bare(null, 3)],
    ['1x3,4x5', [shape(1, 3), shape(4, 5)]],
    ['1x3;4x5', [shape(1, 3), shape(4, 5)]],
    ['[1,3];(4,5),6x7', [shape(1, 3), shape(4, 5), shape(6, 7)]],
    ['image:1x3', [{ name: 'image', ...shape(1, 3) }]],
    [
      'image : [1,3], n:5',
      [
        { name: 'image', ...shape(1, 3) },
        { name: 'n', ...shape(5) },
      ],
    ],
    ['input:0:1x3', [{ name: 'input:0', ...shape(1, 3) }]],
    ['a/b.c-d e:[]', [{ name: 'a/b.c-d e', ...shape() }]],
    ['0x3', [shape(0, 3)]],
  ])('%j', (text, groups) => {
    expect(parseShapes(text)).toEqual(groups);
  });

  test.each([
    ['1x3,', 'missing between two separators'],
    [',', 'missing between two separators'],
    ['1,,2', 'missing between two separators'],
    ['1xx3', 'has an empty dimension'],
    ['x', 'has an empty dimension'],
    ['[1,]', 'has an empty dimension'],
    ['[1,3', 'A ] is missing'],
    ['(1,3', 'A ) is missing'],
    ['[1,3)', 'A ] is missing'],
    ['1x3]', '"3]" is not a dimension'],
    ['1x-3', '"-3" is not a dimension'],
    ['1x3.5', '"3.5" is not a dimension'],
    ['1e3', '"1e3" is not a dimension'],
    ['9999999999999999', 'is not a dimension'],
    ['batchx3', 'is not a dimension'],
    ['name', '"name" is not a dimension'],
    [':1x3', 'has no name before its colon'],
    ['image:', 'has an empty dimension'],
    ['[[1,2]]', '"[1" is not a dimension'],
    [Array(65).fill(1).join('x'), '65 dimensions'],
    ['1,'.repeat(2001), '4000 characters'],
  ])('%j is refused, saying what is wrong and what is allowed', (text, what) => {
    const parse = () => parseShapes(text);
    expect(parse).toThrow(ModelError);
    expect(parse).toThrow(what);
    expect(parse).toThrow('1x3x224x224, [1,3,224,224] or (1,3,224,224); [] is a scalar');
  });

  test('written down in any of the forms a shape is read back', () => {
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    for (let round = 0; round < 500; round += 1) {
      const groups = Array.from({ length: 1 + random(4) }, (_, index) => ({
        ...(random(2) === 0 && { name: `t${index}:${random(9)}` }),
        ...shape(...Array.from({ length: random(6) }, () => (random(4) === 0 ? null : random(1000)))),
      }));
      const text = groups
        .map(({ name, dims }) => {
          const words = dims.map((dim) => dim ?? ['?', '-1', 'N'][random(3)]);
          const forms = [`[${words.join(',')}]`, `( ${words.join(' , ')} )`];
          if (dims.length > 1) forms.push(words.join('x'));
          return (name === undefined ? '' : `${name}: `) + forms[random(forms.length)];
        })
        .join([', ', ';', ' ;'][random(3)]);
      expect(parseShapes(text), text).toEqual(groups);
    }
  });

  test('no text makes it fail otherwise', () => {
    const signs = [...'0123456789xX,;:[]()?-1N abc\n\0ä'];
    let seed = 7;
    let parsed = 0;
    for (let round = 0; round < 3000; round += 1) {
      let text = '';
      for (let length = round % 12; length > 0; length -= 1) {
        seed = (seed * 48271) % 2147483647;
        text += signs[seed % signs.length];
      }
      try {
        parsed += parseShapes(text).length;
      } catch (error) {
        expect(error).toBeInstanceOf(ModelError);
      }
    }
    expect(parsed).toBeGreaterThan(100);
  });
});
