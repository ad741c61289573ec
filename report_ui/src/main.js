import { h } from './lib/dom.js';
import { themeButton } from './lib/theme.js';
import { explorePage } from './explore/page.js';
import { runPage } from './run/page.js';

const pages = { 'deputy-run-page-1': runPage, 'deputy-explore-page-1': explorePage };

function show() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const page = pages[data.format];
  const top = document.getElementById('top');
  const main = document.getElementById('main');
  if (!page) {
    main.append(
      h('p', { role: 'alert' }, `This page does not know the data's format: ${data.format}`),
    );
    return;
  }
  const { title, about, start } = page(data, main);
  document.title = `${title} - Deputy`;
  top.append(
    h('h1', {}, title),
    h('span', { class: 'muted' }, about),
    h('span', { class: 'spread' }),
    themeButton(),
  );
  start();
  document.documentElement.dataset.ready = 'true';
}

show();
