import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { settle, startConsole, visit } from './console-service.ts';
import { newProject, recordRun } from './record-run.ts';
import { recordSweep } from './record-sweep.ts';

// `node test/browser/pictures.ts`: take the two pictures of the README anew, in Chromium on a service of its own.
const folder = join(import.meta.dirname, '../../functions/console/pictures');
const width = 1440;
const heights = { table: 860, sweep: 1170 };
const runs = 212;
const steps = 40;
const models = ['resnet50', 'densenet121', 'vit_small', 'convnext_tiny'];
const optimizers = ['sgd', 'adamw', 'lion'];

await using service = await startConsole();

/** The machine that takes the pictures may have poor fonts. */
const fontFile = fileURLToPath(
  import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'),
);

/** Draw the page and its canvases in a font. It runs in the browser. */
function useFont(base64: string): void {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  document.fonts.add(new FontFace('Inter', bytes, { weight: '100 900' }));
  void document.fonts.load('12px Inter');
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(':root { --sans: Inter !important; }');
  document.adoptedStyleSheets = [sheet];
  const prototype = CanvasRenderingContext2D.prototype;
  const own = Object.getOwnPropertyDescriptor(prototype, 'font');
  Object.defineProperty(prototype, 'font', {
    ...own,
    set(font: string) {
      own?.set?.call(this, font.replace('system-ui', 'Inter'));
    },
  });
}

/** The same numbers at each call. */
let state = 7;
const random = (): number => {
  state = (state * 16_807) % 2_147_483_647;
  return state / 2_147_483_647;
};

/** Invented runs whose best learning rate is near 0.003. */
async function recordRuns(): Promise<string> {
  const project_id = await newProject(service.client, 'chest-xray-triage');
  for (let run = 0; run < runs; run += 1) {
    const lr = 10 ** (-4 + 3 * random());
    const miss = Math.abs(Math.log10(lr / 0.003));
    const ceiling = 0.95 - 0.08 * miss ** 2 - 0.02 * random();
    const speed = 5 + 7 * random();
    const rise = Array.from({ length: steps }, (_, step) => 1 - Math.exp(-(step + 1) / speed));
    const model = models[run % models.length] ?? '';
    const optimizer = optimizers[Math.floor(random() * optimizers.length)] ?? '';
    await recordRun(service.client, project_id, {
      name: `${model}-${optimizer}-${String(run).padStart(3, '0')}`,
      params: { model, optimizer, lr: lr.toPrecision(3), seed: String(run % 5) },
      metrics: {
        'train/loss': rise.map((share) => 2.3 * (1 - share) + 0.1 + 0.1 * miss + 0.04 * random()),
        'val/loss': rise.map((share) => 2.3 * (1 - share) + 0.2 + 0.1 * miss + 0.06 * random()),
        'val/accuracy': rise.map((share) => Math.max(0.1, ceiling * share + 0.02 * (random() - 0.5))),
      },
      status: run > runs - 3 ? undefined : run % 23 === 9 ? 'FAILED' : 'SUCCEEDED',
    });
  }
  return project_id;
}

const page = await service.open({ width });
await page.addInitScript(useFont, await readFile(fontFile, 'base64'));
await page.reload();
await page.emulateMedia({ reducedMotion: 'reduce' });
await page.getByLabel('User', { exact: true }).fill(service.admin.username);
await page.getByLabel('Password', { exact: true }).fill(service.admin.password);
await page.keyboard.press('Enter');
await page.locator('.shell').waitFor();

const take = async (name: keyof typeof heights, place: string, drawn: string): Promise<void> => {
  await page.setViewportSize({ width, height: heights[name] });
  await visit(page, place);
  await page.locator(drawn).first().waitFor();
  await settle(page);
  // Curves are read and drawn one after another.
  await page.waitForTimeout(2_000);
  const png = sharp(await page.screenshot());
  await png.png({ palette: true, quality: 95, compressionLevel: 9 }).toFile(join(folder, `${name}.png`));
};

const project_id = await recordRuns();
await take('table', `projects/${project_id}?sort=best&panel=curves`, '.plot canvas');

const sweep = await recordSweep(service.url, service.client, {
  name: 'lr-search',
  args: [
    ...['-S', 'lr=1e-4..1e-1:log', '-S', 'depth=1,2,3,4,5,6', '-S', 'optimizer=sgd,adam'],
    ...['--method', 'tpe', '--trials', '36', '--parallel', '2', '--metric', 'val_loss', '--goal', 'minimize'],
    ...['--name', 'learning rate and depth'],
  ],
});
await take('sweep', `projects/${sweep.project_id}/sweeps/${sweep.sweep_id}`, '.best-so-far, main svg');
