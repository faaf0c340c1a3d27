import { expect, test } from 'vitest';
import { trialsAsCsv } from '../../../functions/projects/sweeps/trials-as-csv.ts';
import { csvLines } from '../../../shared/core/text/csv-lines.ts';

test('CSV keeps values as they were logged, and no cell is a formula', () => {
  const texts = ['9007199254740993', '007', '0x10', '1.10', '-0.5', '+1e5', 'Infinity', ' 12 ', 'a,"b"'];
  const formulas = ['=1+1', '-1+1', '@SUM(1)', '\t=1', '\n=1+1', ' =1', '＝1+1'];

  expect(csvLines([texts])).toBe('9007199254740993,007,0x10,1.10,-0.5,+1e5,Infinity, 12 ,"a,""b"""\r\n');
  expect(csvLines([formulas])).toBe(`'=1+1,'-1+1,'@SUM(1),'\t=1,"'\n=1+1",' =1,'＝1+1\r\n`);
  expect(csvLines([[-0, 0.1, true, null, undefined]])).toBe('-0.0,0.1,true,,\r\n');
});

test('the CSV of a sweep neutralizes formulas in values and names of parameters', () => {
  const trial = { trial: 0, repeat: 1, params: { opt: '=HYPERLINK(1)', '=h': 'x' } } as never;

  expect(trialsAsCsv([trial], ['opt'])).toContain(",'=HYPERLINK(1),x\r\n");
});
