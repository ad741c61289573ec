/** The points as objects: {index, status, front, parameters: [text], objectives: [number or null]}. */
export function pointsOf(data) {
  const { status, parameters, objectives, front } = data.points;
  return status.map((text, i) => ({
    index: i,
    status: text,
    front: front[i] === 1,
    parameters: parameters.map((column) => column[i]),
    objectives: objectives.map((column) => column[i]),
  }));
}

/** The order of a parameter's values: numbers by size, names as the experiment lists them. */
export function orderedLevels(parameter, points, column) {
  const seen = [...new Set(points.map((p) => p.parameters[column]))];
  if (seen.every((text) => text !== '' && Number.isFinite(Number(text))))
    return seen.sort((a, b) => Number(a) - Number(b));
  return seen.sort((a, b) => parameter.levels.indexOf(a) - parameter.levels.indexOf(b));
}
