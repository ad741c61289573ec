/** An element with attributes and children; a function among the attributes is an event's listener. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A section with a heading, which names it. */
export function section(title, ...children) {
  const id = `h-${title.toLowerCase().replace(/[^a-z]+/g, '-')}`;
  return h(
    'section',
    { id: id.slice(2), 'aria-labelledby': id },
    h('h2', { id }, title),
    ...children,
  );
}

/** Names and values beside each other. */
export function facts(rows) {
  return h(
    'dl',
    { class: 'facts' },
    rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}

/** A drop-down list with its label. */
export function choice(label, options, onChange) {
  const list = h(
    'select',
    { change: () => onChange(list.value) },
    options.map(([value, text]) => h('option', { value }, text)),
  );
  return h('label', {}, `${label} `, list);
}
