// Makes dist/report.html: one page with style, code, library and licences inside, and a place for the data. Hashes of what it was
// made from and of what it is are written into it; cmake/CheckReportUi.cmake compares them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(fileURLToPath(import.meta.url));

const sha = (bytes) => createHash('sha256').update(bytes).digest('hex');

function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? files(join(folder, entry.name))
      : [relative(root, join(folder, entry.name))],
  );
}

/** As cmake/HashSources.cmake: one SHA-256 over "hash name" lines, sorted by name. */
export function sourceHash() {
  const names = [
    'build.mjs',
    'package.json',
    'package-lock.json',
    ...files(join(root, 'src')),
  ].sort();
  return sha(names.map((name) => `${sha(readFileSync(join(root, name)))} ${name}\n`).join(''));
}

/** Licences of what is in the bundle, which their terms want beside it. */
function licences() {
  return ['echarts', 'zrender', 'tslib']
    .map((name) => {
      const folder = join(root, 'node_modules', name);
      const about = JSON.parse(readFileSync(join(folder, 'package.json')));
      const texts = files(folder)
        .map((file) => relative(folder, join(root, file)))
        .filter((file) => /^(licenses\/)?(LICENSE|NOTICE|COPYRIGHT)[^/]*$/i.test(file))
        .sort()
        .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').trim());
      return `${name} ${about.version} (${about.license})\n\n${texts.join('\n\n')}`;
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`);
}

async function bundled(entry, loader) {
  const result = await build({
    entryPoints: [join(root, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    charset: 'ascii',
    loader,
  });
  return result.outputFiles[0].text;
}

export async function page() {
  const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const parts = {
    HASH: sourceHash(),
    STYLE: (await bundled('style.css')).trim(),
    CODE: (await bundled('main.js')).trim().replaceAll('</script', '<\\/script'),
    LICENCES: escape(licences()),
  };
  const bare = readFileSync(join(root, 'src', 'page.html'), 'utf8').replace(
    /%(HASH|STYLE|CODE|LICENCES)%/g,
    (_, name) => parts[name],
  );
  return bare.replace(' content -->', () => ` content ${sha(bare)} -->`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(join(root, 'dist'), { recursive: true });
  const text = await page();
  writeFileSync(join(root, 'dist', 'report.html'), text);
  console.log(`dist/report.html: ${text.length} bytes`);
}
