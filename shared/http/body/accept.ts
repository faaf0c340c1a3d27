/**
 * Return the offered media type that an `Accept` header prefers (RFC 9110, 12.5.1). The most specific matching
 * range gives each offer its quality, and ties go to the earlier offer. If the header matches none, return the
 * first offer, because any representation helps a client more than a 406.
 */
export function preferredMediaType<const T extends string>(
  header: string | undefined,
  offers: readonly [T, ...T[]],
): T {
  const ranges = header === undefined ? [] : parseAccept(header);
  let best = offers[0];
  let bestQuality = 0;
  for (const offer of offers) {
    const [type, subtype] = offer.split('/');
    const matching = ranges
      .filter(
        (range) =>
          (range.type === '*' || range.type === type) && (range.subtype === '*' || range.subtype === subtype),
      )
      .sort((a, b) => specificity(b) - specificity(a))[0];
    if (matching !== undefined && matching.quality > bestQuality) {
      best = offer;
      bestQuality = matching.quality;
    }
  }
  return best;
}

interface Range {
  type: string;
  subtype: string;
  quality: number;
}

function parseAccept(header: string): Range[] {
  const ranges: Range[] = [];
  for (const part of header.split(',')) {
    const [media = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const [type, subtype] = media.split('/');
    if (type === undefined || subtype === undefined) continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    const quality = q === undefined ? 1 : Number(q.slice(2));
    ranges.push({ type, subtype, quality: Number.isNaN(quality) ? 0 : quality });
  }
  return ranges;
}

const specificity = (range: Range): number => (range.type === '*' ? 0 : range.subtype === '*' ? 1 : 2);
