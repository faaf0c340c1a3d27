const keyword =
  /loss|LOSS|Loss|acc|Acc|ACC|auc|AUC|rror|mse|MSE|mae|MAE|mape|MAPE|f1|F1|F_?[Ss]core|score|SCORE|Score|ecall|recision|ppl|PPL|erplexity|nll|elbo|bleu|BLEU|ouge|wer|WER|iou|IoU|IOU|dice|Dice|mAP|map|mrr|psnr|PSNR|ssim|SSIM|fid|eward|eturn|R2|r2|\bl[12]:|ndcg|kappa|bjective|xploitab|nertia|learn: |finished with value|itness: |top[15]|\bAP|\bTrain: |copypaste|^ {2,4}(?:Min|Max|Avg|Std) |(?:macro|micro|weighted|samples) avg|\(A[PR]\)/;

/** Rows of tables and reports, whose lines have no names of metrics. */
const row = /^\s{0,12}\d{1,9}[\s/]|^\| \w{1,40}\/|^ {15,24}all /;

/** For each alternative of {@link keyword}, three characters in it that few other lines have; two, if it has no more. */
const pieces: readonly string[] = [
  ...['oss', 'acc', 'auc', 'rro', 'mse', 'mae', 'ape', 'f1', 'sco', 'eca', 'cis', 'ppl', 'rpl', 'nll', 'lbo'],
  ...['leu', 'oug', 'wer', 'iou', 'dic', 'map', 'mrr', 'snr', 'ssi', 'fid', 'war', 'tur', 'r2', 'l1', 'l2'],
  ...[
    'dcg',
    'kap',
    'bje',
    'xpl',
    'tia',
    'arn',
    'alu',
    'tne',
    'op1',
    'op5',
    ' ap',
    'rai',
    'ypa',
    'min',
    'max',
  ],
  ...['avg', 'std', ' ar', 'poc'],
];

const other = 31;
const bits = 5;
const mask = 2 ** (3 * bits) - 1;

/** Letters, digits that names of metrics have, and 0 for all between words. */
const codes = new Uint8Array(256).fill(other);
for (let code = 0; code < 128; code += 1) {
  const character = String.fromCharCode(code);
  if (/[a-z]/i.test(character)) codes[code] = code & 31;
  else if (/[125]/.test(character)) codes[code] = 26 + ['1', '2', '5'].indexOf(character) + 1;
  else if (!/\d/.test(character)) codes[code] = 0;
}

const isPiece = new Uint8Array(mask + 1);
for (const piece of pieces) {
  const at = [...piece].reduce((sum, one) => (sum << bits) | (codes[one.charCodeAt(0)] ?? 0), 0);
  if (piece.length === 3) isPiece[at] = 1;
  else for (let next = 0; next <= other; next += 1) isPiece[(at << bits) | next] = 1;
}

/** Return whether a line may hold a metric. */
export const mayHoldMetric = (line: string): boolean => row.test(line) || keyword.test(line);

/**
 * Return whether the bytes of a line may hold a metric, or the number of an epoch. It takes a twentieth of the time of
 * {@link mayHoldMetric}, and is true wherever that is.
 */
export function mayHoldPiece(bytes: Uint8Array, start: number, end: number): boolean {
  let from = start;
  while (bytes[from] === space) from += 1;
  let behind = from;
  while (isDigit(bytes[behind])) behind += 1;
  const isRow = behind > from && (bytes[behind] === slash || (bytes[behind] ?? 0) <= space);
  if (isRow || bytes[from] === bar || from - start >= widest) return true;
  let at = 0;
  for (let index = from; index < end; index += 1) {
    at = ((at << bits) | (codes[bytes[index] ?? 0] ?? 0)) & mask;
    if (isPiece[at] === 1) return true;
  }
  // A piece of two characters may end the line.
  return isPiece[(at << bits) & mask] === 1;
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 48 && byte <= 57;

const space = 32;
const slash = 47;
const bar = 124;
/** Spaces in front of the rows of Ultralytics. */
const widest = 15;
