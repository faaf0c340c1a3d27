/**
 * Load sharp, a native library of some 20 MB, when the first picture arrives. All loaders stay blocked but those of `readers`, and
 * of earlier callers in this process: no SVG, no PDF, no TIFF. One thread and no cache bound the memory to one picture at a time.
 */
export async function pictureCodec(readers: readonly Reader[]): ReturnType<typeof load> {
  loaded ??= load();
  const sharp = await loaded;
  sharp.unblock({ operation: [...readers] });
  return sharp;
}

type Reader = `VipsForeignLoad${'Png' | 'Jpeg' | 'Webp' | 'Nsgif'}Buffer`;

let loaded: ReturnType<typeof load> | undefined;

async function load() {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
}
