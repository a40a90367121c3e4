# Writes OUTPUT, a C++ file with the page in FOLDER as strings. In the first string, page.html, the
# scripts and the style sheet replace the elements that refer to them. The style sheet begins with the
# colours in TOKENS: the dark ones, and the light ones for users who prefer a light page. live.js and
# recorded.js are separate strings, and page.cpp inserts one of them.
file(READ ${FOLDER}/page.html page)
string(REGEX MATCHALL "<script src=\"[a-z_]+\\.js\"></script>" scripts "${page}")
foreach(element IN LISTS scripts)
  string(REGEX REPLACE "<script src=\"([a-z_]+\\.js)\"></script>" "\\1" name "${element}")
  file(READ ${FOLDER}/${name} text)
  string(REPLACE "${element}" "<script>\n${text}</script>" page "${page}")
endforeach()
file(READ ${TOKENS} tokens)
string(REGEX REPLACE "light-dark\\(([^,]+), ([^)]+)\\)" "\\1" light "${tokens}")
string(REGEX REPLACE "light-dark\\(([^,]+), ([^)]+)\\)" "\\2" dark "${tokens}")
string(REPLACE "color-scheme: light dark" "color-scheme: light" light "${light}")
string(REPLACE "color-scheme: light dark" "color-scheme: dark" dark "${dark}")
set(tokens "${dark}@media (prefers-color-scheme: light) {\n${light}}\n")
file(READ ${FOLDER}/style.css text)
string(REPLACE "<link rel=\"stylesheet\" href=\"style.css\">" "<style>\n${tokens}${text}</style>" page "${page}")
file(READ ${FOLDER}/live.js live)
file(READ ${FOLDER}/recorded.js recorded)

set(code "// Generated from view/page.\n#include <string_view>\n\nnamespace nbody::view {\n\n")
function(add_string name text)
  string(APPEND code
    "extern const std::string_view ${name};\n"
    "const std::string_view ${name} = R\"nbody-page(${text})nbody-page\";\n\n")
  set(code "${code}" PARENT_SCOPE)
endfunction()
add_string(kPage "${page}")
add_string(kLiveSource "${live}")
add_string(kRecordedSource "${recorded}")
file(WRITE ${OUTPUT} "${code}}  // namespace nbody::view\n")
