import * as z from 'zod';

/** A file of an index page. */
export interface IndexedFile {
  url: string;
  /** Lower-case hexadecimal; undefined if the index states none. */
  sha256: string | undefined;
}

const sha256Pattern = /^[0-9a-f]{64}$/i;

const anchor = /(<a\b[^>]*?\bhref\s*=\s*)(?:"([^"]*)"|'([^']*)')/gi;

const JsonPage = z.looseObject({
  files: z.array(
    z.looseObject({
      url: z.string(),
      hashes: z.record(z.string(), z.string()).default({}),
    }),
  ),
});

/**
 * Replace the URL of every file in an index page (PEP 503 as HTML, PEP 691 as JSON). Keeps all other attributes of
 * a file. `place` receives the absolute URL without its fragment and returns the new one, or null to drop the
 * file.
 */
export function placeFiles(
  page: { text: string; isJson: boolean; url: string },
  place: (file: IndexedFile) => string | null,
): string {
  const placed = (href: string, stated: string | undefined): string | null => {
    if (!URL.canParse(href, page.url)) return null;
    const url = new URL(href, page.url);
    const found = stated ?? /[#&]sha256=([0-9a-f]{64})(?:&|$)/i.exec(url.hash)?.[1];
    const sha256 = found !== undefined && sha256Pattern.test(found) ? found.toLowerCase() : undefined;
    url.hash = '';
    const to = place({ url: url.href, sha256 });
    return to === null || sha256 === undefined || page.isJson ? to : `${to}#sha256=${sha256}`;
  };
  if (!page.isJson) {
    return page.text.replaceAll(anchor, (_, before: string, double?: string, single?: string) => {
      const to = placed(decodeEntities(double ?? single ?? ''), undefined);
      return `${before}"${to ?? ''}"`;
    });
  }
  const parsed = JsonPage.parse(JSON.parse(page.text));
  const files = parsed.files.flatMap((file) => {
    const url = placed(file.url, file.hashes['sha256']);
    return url === null ? [] : [{ ...file, url }];
  });
  return JSON.stringify({ ...parsed, files });
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,5}));/gi, (whole, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : undefined;
    if (code !== undefined) return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    return entities[String(name).toLowerCase()] ?? whole;
  });
}
