// SPDX-License-Identifier: Apache-2.0
// Before the first paint: the theme and the language that this browser chose last.
(function () {
  var root = document.documentElement, kept = {}
  try { kept = JSON.parse(localStorage.getItem('peal.display') || '{}') || {} } catch (e) { /* private mode */ }
  if (kept.theme === 'light' || kept.theme === 'dark') root.dataset.theme = kept.theme
  if (typeof kept.language === 'string') root.lang = kept.language
})()
